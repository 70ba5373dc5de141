import { once } from 'node:events'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from '../../server/lib/run.ts'
import { findProgram } from './find-program.ts'
import { findFreePort } from './free-port.ts'
import { startTidying } from './tidying.ts'
import { until } from './until.ts'

/**
 * A container registry for one test: Debian's `docker-registry` on the loopback device, with a
 * password.
 */
export interface Registry {
  /** `127.0.0.1:<port>`. */
  readonly host: string
  readonly username: string
  readonly password: string
  /** Ends the process. `start` starts it again on the same port with the same images. */
  stop(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** The password, and its hash by `htpasswd -B`. */
const password = 'SECRET-REGISTRY'
const passwordFile = 'robot:$2y$05$o0ZLet4ya8qR9yirZ1RsXuutAK5n76o3PE32xe2Ip9RNIASXiH2xW\n'

/** Returns why tests with a registry are skipped, or false if they can run. */
export async function whyNoRegistry(): Promise<string | false> {
  if (await findProgram('docker-registry')) return false
  return 'docker-registry is not installed: apt-get install docker-registry, or let npm test fetch it'
}

export async function startRegistry(): Promise<Registry> {
  const program = await findProgram('docker-registry')
  if (!program) throw new Error(`${await whyNoRegistry()}`)
  const directory = await mkdtemp(join(tmpdir(), 'quayside-registry-'))
  const tidying = startTidying(directory)
  const port = await findFreePort()
  const at = (name: string): string => join(directory, name)
  await mkdir(at('data'))
  await writeFile(at('htpasswd'), passwordFile)
  // JSON is YAML.
  const settings = {
    version: '0.1',
    log: { level: 'error', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: at('data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}` },
    auth: { htpasswd: { realm: 'test', path: at('htpasswd') } },
  }
  await writeFile(at('config.yml'), JSON.stringify(settings))
  const launch = async () => {
    const child = start(program, ['serve', at('config.yml')], { cwd: directory, stdio: 'ignore' })
    const ended = once(child, 'exit')
    tidying.note('server', child.pid)
    await until('the registry answers', () => listens(port))
    return { child, ended }
  }
  let running: Awaited<ReturnType<typeof launch>> | undefined = await launch()
  const stop = async (): Promise<void> => {
    const { child, ended } = running ?? {}
    running = undefined
    child?.kill('SIGKILL')
    await ended
  }
  return {
    host: `127.0.0.1:${port}`,
    username: 'robot',
    password,
    stop,
    start: async () => {
      running ??= await launch()
    },
    close: async () => {
      await stop()
      await tidying.finish()
    },
  }
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}
