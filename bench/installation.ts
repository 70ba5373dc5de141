import type { ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemClock as clock } from '../server/lib/clock.ts'
import { start as startProgram } from '../server/lib/run.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { removeInstance } from './docker.ts'
import type { Session } from './figure.ts'
import { ask } from './http.ts'
import { commandLine, gone, killProcess, pidsWith, treeOf } from './processes.ts'
import { until } from './until.ts'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** A whole Quayside with its own data directory and ports, started by `npm start`. */
export interface Installation {
  readonly directory: string
  readonly port: number
  readonly routerPort: number
  /** Starts the server. Returns the milliseconds from the command to the line "Ready.". */
  start(): Promise<number>
  /** Calls the API with the admin token. Returns the response body. Throws unless it succeeds. */
  api(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>>
  token(): Promise<string>
  /** The host name of the application that the first start created. */
  host(): string
  /** The process id of the server itself, not of npm. */
  serverPid(): Promise<number>
  /** Undefined if it is not running. */
  routerPid(): Promise<number | undefined>
  /** The process id of PostgreSQL's main process. Undefined if it is not running. */
  postmasterPid(): Promise<number | undefined>
  /** Kills the server, like a crash. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/**
 * Prepares an installation, which runs after `start`. `env` overrides its settings. The end of the
 * session removes it.
 */
export async function createInstallation(
  { ending }: Session,
  env: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-bench-'))
  await chmod(directory, 0o711)
  const ports = { api: await findFreePort(), router: await findFreePort() }
  let child: ChildProcess | undefined
  let host = ''

  const serverPid = async (): Promise<number> => {
    for (const pid of await treeOf(child?.pid ?? 0)) {
      if ((await commandLine(pid)).includes(join(root, 'server', 'main.ts'))) return pid
    }
    throw new Error('the server is not running')
  }
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    const running = child
    if (!running?.pid || running.exitCode !== null) return
    // npm may still be on its way to the server.
    const isFound = async () => running.exitCode !== null || serverPid().catch(() => undefined)
    const pid = await until('the server runs', isFound, { limitMs: 30_000 })
    if (typeof pid !== 'number') return
    process.kill(pid, signal)
    await gone(pid)
    await gone(running.pid)
  }
  const token = async (): Promise<string> => (await readFile(join(directory, 'admin-token'), 'utf8')).trim()
  ending.defer(async () => {
    await end('SIGTERM').catch(() => {})
    await killProcess((await findRouter(directory)) ?? 0)
    await endPostgres(directory)
    const instance = (await readFile(join(directory, 'instance'), 'utf8').catch(() => '')).trim()
    if (instance !== '') await removeInstance(instance)
    await rm(directory, { recursive: true, force: true })
  })

  return {
    directory,
    port: ports.api,
    routerPort: ports.router,
    host: () => host,
    token,
    serverPid,
    routerPid: () => findRouter(directory),
    postmasterPid: () => findPostmaster(directory),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    async start() {
      const startedAt = clock.monotonic()
      const log = await open(join(directory, 'server.log'), 'a')
      child = startProgram('npm', ['start'], {
        cwd: root,
        env: { ...environment(directory, ports), ...env },
        stdio: ['ignore', 'pipe', log.fd],
      })
      await log.close()
      const said = await untilReady(child, directory)
      host ||= new URL(/^Application +(\S+)$/m.exec(said)?.[1] ?? 'http://none').hostname
      return clock.monotonic() - startedAt
    },
    async api(method, path, body) {
      const headers = {
        authorization: `Bearer ${await token()}`,
        'content-type': 'application/json',
        'x-state-dialect': 'full',
      }
      const text = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await ask({ port: ports.api, path, method, headers, ...text })
      if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body}`)
      return answer.body === '' ? {} : JSON.parse(answer.body)
    },
  }
}

const environment = (directory: string, ports: { api: number; router: number }): Record<string, string> => ({
  // npm is next to Node, or in one of the usual places.
  PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
  QUAYSIDE_DATA: directory,
  QUAYSIDE_PORT: String(ports.api),
  QUAYSIDE_ROUTER_PORT: String(ports.router),
  // High enough never to reject, but not off: counting is part of the cost of a request.
  QUAYSIDE_RATE_LIMIT: '1000000',
  QUAYSIDE_RATE_BURST: '1000000',
  QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
  QUAYSIDE_STREAMS_PER_CALLER: '1000000',
  QUAYSIDE_STREAMS_PER_ORGANIZATION: '1000000',
  // All clients of a benchmark have one address.
  QUAYSIDE_ROUTER_CONNECTIONS: '1000000',
  QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT: '1000000',
})

/** Returns the output. */
async function untilReady(child: ChildProcess, directory: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  if (!child.stdout) throw new Error('npm has no output')
  createInterface({ input: child.stdout }).on('line', (line) => {
    said += `${line}\n`
    if (line === 'Ready.') resolve(said)
  })
  child.once('error', reject)
  child.once('exit', async () => {
    const log = await readFile(join(directory, 'server.log'), 'utf8').catch(() => '')
    reject(new Error(`npm start ended before it was ready:\n${said}${log.slice(-4000)}`))
  })
  return promise
}

const findRouter = async (directory: string): Promise<number | undefined> =>
  (await pidsWith(join(directory, 'router', 'control.sock')))[0]

async function findPostmaster(directory: string): Promise<number | undefined> {
  const file = join(directory, 'postgresql', 'cluster', 'postmaster.pid')
  return Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]) || undefined
}

/** PostgreSQL ends with the server. After a crash it keeps running. */
async function endPostgres(directory: string): Promise<void> {
  const pid = await findPostmaster(directory)
  if (pid === undefined) return
  process.kill(pid, 'SIGINT')
  await gone(pid)
}
