import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionLimits } from '@quayside/contract/connection-shares.ts'
import { rulesOf } from '../../server/domains/route-rules.ts'
import { killGroup, run, start } from '../../server/lib/run.ts'
import { createOwnRouter } from '../../server/routers/index.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { haproxy } from '../../test/support/haproxy.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import type { Session } from '../figure.ts'
import { haproxyOf, startRouterProcess } from '../router-process.ts'
import { until } from '../until.ts'

/** The host name of the certificate of the tests. */
export const host = 'outside.invalid'

/** The Caddy of benchmarks, as a name or a path: Debian's package unless one is set. */
const caddy = process.env['QUAYSIDE_TEST_CADDY'] || 'caddy'

/** A proxy in front of the upstream, with its processes. */
export interface Front {
  readonly name: string
  readonly port: number
  readonly tlsPort: number
  readonly pids: readonly number[]
}

/** Returns the programs of this comparison that are missing on this machine. */
export async function missingPrograms(): Promise<string[]> {
  const asked = { [haproxy]: ['-v'], [caddy]: ['version'], h2load: ['--version'] }
  const found = await Promise.all(
    Object.entries(asked).map(([name, args]) =>
      run(name, args, { timeoutMs: 10_000 }).then(
        () => [],
        () => [name],
      ),
    ),
  )
  return found.flat()
}

/** Starts what every proxy leads to: HAProxy answers from its memory, on one thread. */
export async function startUpstream(session: Session): Promise<number> {
  const port = await findFreePort()
  const answer = 'http-request return status 200 content-type text/plain string "Hello, world!"'
  const text = `${defaults(1)}\nfrontend upstream\n  bind 127.0.0.1:${port}\n  ${answer}\n`
  await startProgram(session, { port, configure: async () => ({ 'upstream.cfg': text }), args: haproxyArgs })
  return port
}

/** Starts HAProxy with a fixed configuration, on all cores. */
export async function startHaproxy(session: Session, upstream: number): Promise<Front> {
  const [port, tlsPort] = [await findFreePort(), await findFreePort()]
  const configure = async (folder: string): Promise<Files> => ({
    'haproxy.cfg': [
      defaults(),
      'frontend front',
      `  bind 127.0.0.1:${port}`,
      `  bind 127.0.0.1:${tlsPort} ssl crt ${join(folder, 'site.pem')} alpn h2,http/1.1`,
      '  default_backend site',
      'backend site',
      `  server one 127.0.0.1:${upstream}`,
      '',
    ].join('\n'),
    'site.pem': selfSigned.cert + selfSigned.key,
  })
  return { name: 'haproxy', port, tlsPort, pids: [await startProgram(session, { port, configure, args: haproxyArgs })] }
}

/** Starts Caddy with a fixed configuration. */
export async function startCaddy(session: Session, upstream: number): Promise<Front> {
  const [port, tlsPort] = [await findFreePort(), await findFreePort()]
  const configure = async (folder: string): Promise<Files> => ({
    Caddyfile: [
      '{\n  admin off\n  auto_https off\n  log {\n    level ERROR\n  }\n}',
      `http://${host}:${port} {\n  reverse_proxy 127.0.0.1:${upstream}\n}`,
      `https://${host}:${tlsPort} {\n  tls ${join(folder, 'site.crt')} ${join(folder, 'site.key')}`,
      `  reverse_proxy 127.0.0.1:${upstream}\n}`,
      '',
    ].join('\n'),
    'site.crt': selfSigned.cert,
    'site.key': selfSigned.key,
  })
  const args = (file: string): readonly string[] => [caddy, 'run', '--adapter', 'caddyfile', '--config', file]
  return { name: 'caddy', port, tlsPort, pids: [await startProgram(session, { port, configure, args })] }
}

/** Starts our router behind HAProxy, under the rules that every application has. */
export async function startOwn(session: Session, upstream: number, connections?: ConnectionLimits): Promise<Front> {
  const material = { certificates: [{ host, chain: selfSigned.cert, key: selfSigned.key }], challenges: [] }
  const source = { mark: async () => 'bench', material: async () => material, states: async () => new Map() }
  const { process, pid } = await startRouterProcess(session, source, { haproxy, ...(connections && { connections }) })
  const endpoints = [{ address: '127.0.0.1', port: upstream }]
  const tls = { from: 'platform', redirects: false } as const
  const route = { host, service: 'bench', name: 'bench', endpoints, tls, rules: rulesOf('application', {}) ?? {} }
  await createOwnRouter({ process, certificates: source }).replaceAll([route], AbortSignal.timeout(5000))
  // The router answers alone until HAProxy does.
  const haproxyPid = await haproxyOf(process)
  return { name: 'own', port: process.port, tlsPort: process.tls.port, pids: [pid, haproxyPid] }
}

type Files = Readonly<Record<string, string>>

interface Program {
  /** The port on which it listens once it has started. */
  readonly port: number
  /** Returns its files by name. The first one is its configuration. */
  configure(folder: string): Promise<Files>
  /** Returns the program and its arguments. */
  args(configuration: string): readonly string[]
}

const haproxyArgs = (file: string): readonly string[] => [haproxy, '-db', '-f', file]

const defaults = (threads?: number): string =>
  [
    ...(threads === undefined ? [] : [`global\n  nbthread ${threads}`]),
    'defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s',
  ].join('\n')

/** Starts a program and waits until it listens. Returns its process. It ends with the session. */
async function startProgram({ ending }: Session, { port, configure, args }: Program): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-front-'))
  ending.defer(() => rm(folder, { recursive: true, force: true }))
  const files = await configure(folder)
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 })
  const [program = '', ...rest] = args(join(folder, Object.keys(files)[0] ?? ''))
  const log = openSync(join(folder, 'log'), 'a')
  const child = start(program, rest, { stdio: ['ignore', log, log], env: { HOME: folder } })
  closeSync(log)
  ending.defer(async () => killGroup(child))
  await until(`${program} listens`, () => listens(port))
  if (child.pid === undefined) throw new Error(`${program} did not start`)
  return child.pid
}

const listens = (port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ port, host: '127.0.0.1' })
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
