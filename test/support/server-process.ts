import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '../../server/database/index.ts'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { killGroup, start as startProgram } from '../../server/lib/run.ts'
import { findRouter } from '../../server/routers/own/router-process.ts'
import { type EngineView, usualSocket, viewEngine } from './engine-view.ts'
import { startTidying } from './tidying.ts'
import { until } from './until.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readyMs = 60_000

export interface Reply<T> {
  readonly status: number
  readonly body: T
}

/** A start that ends early: when this line begins to be printed, the process gets the signal. */
export interface Cut {
  readonly line: string
  readonly signal: 'SIGKILL' | 'SIGTERM'
}

export interface StartOptions {
  /** As QUAYSIDE_FAILPOINT: `name:kill`. */
  readonly failpoint?: string
  /** Further settings, over the usual ones. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A real server process with its own data directory, ports, PostgreSQL and router; the engine is the one of this machine. */
export interface ServerProcess {
  readonly dataDirectory: string
  readonly engine: EngineView
  readonly apiUrl: string
  readonly routerPort: number
  /** Tells this installation's things from others' in the engine: the value of the label `quayside.instance`. */
  readonly instance: string
  readonly organizationId: string
  readonly token: string
  /** A look into the server's database, for what no answer tells. */
  readonly sql: Database
  readonly pid: number
  /** How the starts ended that were cut off. */
  readonly cuts: readonly Exit[]
  /** All lines that its processes printed so far, on both streams. */
  readonly output: readonly string[]
  /** One call of the API. Rejects only when no answer came. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<Reply<T>>
  /** The same; throws unless the answer is a success. */
  must<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  /** How the present process ended, once it has. */
  exited(): Promise<Exit>
  kill9(): Promise<void>
  /** SIGTERM, in order. */
  stop(): Promise<Exit>
  /** Ends what still runs by force, and starts anew. With `ready: false` it is not waited for. */
  restart(options?: StartOptions & { readonly ready?: boolean }): Promise<void>
  /** Ends everything and removes what it left. */
  close(): Promise<void>
}

/**
 * Starts a server and waits until it is ready: its first start makes an organization and deploys the example. `cutAt`: so many
 * starts before that are cut off. `engineSocket`: another engine than the machine's.
 */
export async function startServer(
  options: StartOptions & { readonly cutAt?: readonly Cut[]; readonly engineSocket?: string } = {},
): Promise<ServerProcess> {
  const dataDirectory = await temporaryDataDirectory()
  const [port, routerPort] = [await freePort(), await freePort()]
  const apiUrl = `http://localhost:${port}`
  const tidying = startTidying(dataDirectory)
  const engine = viewEngine(options.engineSocket)
  const usual = settings({ dataDirectory, port, routerPort, engineSocket: engine.socketPath })
  const output: string[] = []
  const begin = (given: StartOptions) => {
    const begun = launch({ ...usual, ...failpointOf(given), ...given.env }, output)
    tidying.note('server', begun.child.pid)
    return begun
  }
  const cuts: Exit[] = []
  const first = async () => {
    for (const { line, signal } of options.cutAt ?? []) {
      const cut = begin(options)
      await cut.printed(line)
      cut.child.kill(signal)
      cuts.push(await cut.exit)
    }
    const begun = begin(options)
    await begun.printed('Ready.')
    return begun
  }
  let run = await first().catch(async (error: unknown) => {
    await tidying.finish()
    throw error
  })
  const sql = openDatabase({ url: databaseUrl(dataDirectory), max: 2, name: 'test' })
  const { instance, organizationId, service } = await readFacts(sql)
  tidying.note('engine', engine.socketPath)
  tidying.note('instance', instance)
  tidying.note('service', service)
  const token = (await readFile(join(dataDirectory, 'admin-token'), 'utf8')).trim()

  const api = async <T>(method: string, path: string, body?: unknown): Promise<Reply<T>> => {
    const headers: Record<string, string> = { authorization: `Token ${token}` }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const init = {
      method,
      headers,
      signal: AbortSignal.timeout(30_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init)
    const text = await answer.text()
    // The shape is what the contract promises; test/contract holds the server to it.
    const parsed = (text === '' ? undefined : JSON.parse(text)) as T
    const { id } = Object(parsed)
    if (answer.status === 201 && /^\/environment\/[^/]+\/application$/.test(path)) tidying.note('service', id)
    return { status: answer.status, body: parsed }
  }

  return {
    dataDirectory,
    engine,
    apiUrl,
    routerPort,
    instance,
    organizationId,
    token,
    sql,
    output,
    cuts,
    api,
    get pid() {
      return run.child.pid ?? 0
    },
    must: async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const reply = await api<T>(method, path, body)
      if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    },
    exited: () => run.exit,
    kill9: async () => {
      run.child.kill('SIGKILL')
      await run.exit
    },
    stop: async () => {
      run.child.kill('SIGTERM')
      return run.exit
    },
    restart: async (again = {}) => {
      run.child.kill('SIGKILL')
      await run.exit
      run = begin(again)
      if (again.ready !== false) await run.printed('Ready.')
    },
    close: async () => {
      await sql.end({ timeout: 1 }).catch(() => {})
      await tidying.finish()
    },
  }
}

export interface Attempted extends Exit {
  readonly output: string
  /** Which of its processes it left running, before they were ended. */
  readonly left: readonly ('PostgreSQL' | 'router')[]
}

/** Starts a server that is expected to give up by itself, and waits for that; in a directory of its own unless `env` names one. */
export async function attemptServer(env: Readonly<Record<string, string>>): Promise<Attempted> {
  const dataDirectory = await temporaryDataDirectory()
  const tidying = startTidying(dataDirectory)
  const [port, routerPort] = [await freePort(), await freePort()]
  const output: string[] = []
  const run = launch({ ...settings({ dataDirectory, port, routerPort, engineSocket: usualSocket }), ...env }, output)
  tidying.note('server', run.child.pid)
  const limit = AbortSignal.timeout(readyMs)
  limit.addEventListener('abort', () => killGroup(run.child))
  const exit = await run.exit
  const controlSocket = join(dataDirectory, 'router', 'control.sock')
  const left: Attempted['left'][number][] = []
  if (await findPostmaster(join(dataDirectory, 'postgresql', 'cluster'))) left.push('PostgreSQL')
  if (await findRouter({ controlSocket })) left.push('router')
  await tidying.finish()
  return { ...exit, output: output.join('\n'), left }
}

/** Others may enter it, for PostgreSQL runs as another user where the tests are run by root. */
async function temporaryDataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-e2e-'))
  await chmod(directory, 0o711)
  return directory
}

async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const server = createServer().once('error', reject)
  server.listen(0, '127.0.0.1', () => {
    const bound = server.address()
    server.close(() => (typeof bound === 'object' && bound ? resolve(bound.port) : reject(new Error('no port'))))
  })
  return promise
}

function settings(at: {
  dataDirectory: string
  port: number
  routerPort: number
  engineSocket: string
}): Record<string, string> {
  return {
    QUAYSIDE_DATA: at.dataDirectory,
    QUAYSIDE_PORT: String(at.port),
    QUAYSIDE_ROUTER_PORT: String(at.routerPort),
    QUAYSIDE_DOCKER_HOST: `unix://${at.engineSocket}`,
    QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
    QUAYSIDE_RATE_LIMIT: '0',
    NODE_COMPILE_CACHE: join(tmpdir(), 'quayside-test-compile-cache'),
  }
}

const failpointOf = ({ failpoint }: StartOptions): Record<string, string> =>
  failpoint ? { QUAYSIDE_FAILPOINT: failpoint } : {}

function launch(env: Readonly<Record<string, string>>, output: string[]) {
  const child = startProgram(process.execPath, [join(root, 'server/main.ts')], { cwd: root, env })
  const from = output.length
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', (line) => output.push(line))
  }
  const { promise: exit, resolve } = Promise.withResolvers<Exit>()
  // Not `exit`: what it printed last is worth having.
  child.once('close', (code, signal) => resolve({ code, signal }))
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  const printed = (text: string): Promise<true> =>
    until(
      `the server says "${text}"`,
      () => {
        if (isOver()) throw new Error(`the server ended while it started:\n${output.slice(from).join('\n')}`)
        return output.slice(from).some((line) => line.startsWith(text))
      },
      { limitMs: readyMs, seen: () => output.slice(-20), everyMs: 5 },
    )
  return { child, exit, printed }
}

const databaseUrl = (dataDirectory: string): string =>
  `postgres://quayside@localhost/postgres?host=${encodeURIComponent(join(dataDirectory, 'postgresql', 'socket'))}`

async function readFacts(sql: Database) {
  const [row] = await sql<{ instance: string; organization: string; service: string }[]>`
    select (select value#>>'{}' from setting where key = 'instance') as instance,
      (select id from organization) as organization, (select id from service) as service`
  if (!row) throw new Error('the server has no facts')
  return { instance: row.instance, organizationId: row.organization, service: row.service }
}

/** For checks that last a certain time by their nature. */
export const now = (): number => clock.monotonic()
