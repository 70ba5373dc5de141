import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { start } from '../../../server/lib/run.ts'
import { findFreePort } from '../free-port.ts'
import { until } from '../until.ts'
import { providePebble } from './build.ts'

/** A running certificate authority. */
export interface Pebble {
  /** The address of its directory. */
  readonly directory: string
  /** The file with the root of its HTTPS server. */
  readonly serverRoot: string
  /** Returns the root of the certificates that it issues, in PEM format. */
  root(): Promise<string>
  /** Sets its answer about the renewal of a certificate in PEM format. */
  setRenewalInfo(certificate: string, answer: unknown): Promise<void>
  /** Everything that it printed. */
  readonly output: readonly string[]
  /** Stops it. Its accounts and roots are gone. */
  stop(): Promise<void>
  /** Starts it again at the same address, as another authority. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>
}

export interface PebbleOptions {
  /** The name server that it asks, `address:port`. */
  readonly nameServer: string
  /** The port at which it checks hosts over HTTP. */
  readonly httpPort: number
  /** The port at which it checks hosts over TLS. Nobody answers there by default. */
  readonly tlsPort?: number
  /** The life of its certificates. 90 days by default. */
  readonly validSeconds?: number
  /** Its own settings. `PEBBLE_WFE_NONCEREJECT` is the share of requests that it rejects, in %. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Starts Let's Encrypt's test server. Returns undefined if the machine cannot build it. It ends
 * with the test.
 */
export async function startPebble(
  t: { after(work: () => Promise<void>): void },
  { nameServer, httpPort, tlsPort = 1, validSeconds = 90 * 86_400, env = {} }: PebbleOptions,
): Promise<Pebble | undefined> {
  const files = await providePebble()
  if (!files) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'quayside-pebble-'))
  const [port, managementPort] = [await findFreePort(), await findFreePort()]
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: files.serverCertificate,
    privateKey: files.serverKey,
    httpPort,
    tlsPort,
    retryAfter: { authz: 1, order: 1 },
    keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'for tests', validityPeriod: validSeconds } },
  }
  const configFile = join(folder, 'config.json')
  await writeFile(configFile, JSON.stringify({ pebble: config }))
  const agent = new Agent({ ca: await readFile(files.serverRoot) })
  const get = (at: number, path: string, body?: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST'
      const headers = { 'User-Agent': 'quayside-tests' }
      const outgoing = request({ host: 'localhost', family: 4, port: at, path, method, headers, agent }, (answer) => {
        text(answer).then(resolve, reject)
      })
      outgoing.on('error', reject).end(body)
    })
  const output: string[] = []
  const begin = async (more: Readonly<Record<string, string>>) => {
    const child = start(files.program, ['-config', configFile, '-dnsserver', nameServer], {
      env: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', ...env, ...more },
    })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => output.push(String(chunk)))
    await until(
      'Pebble answers',
      () =>
        get(port, '/dir')
          .then(() => true)
          .catch(() => false),
      { seen: () => output },
    )
    return child
  }
  let child = await begin({})
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await until('Pebble is gone', () => child.exitCode !== null || child.signalCode !== null)
  }
  t.after(async () => {
    await stop()
    agent.destroy()
    await rm(folder, { recursive: true })
  })
  return {
    directory: `https://localhost:${port}/dir`,
    serverRoot: files.serverRoot,
    root: () => get(managementPort, '/roots/0'),
    setRenewalInfo: async (certificate, answer) => {
      const body = { Certificate: certificate, ARIResponse: JSON.stringify(answer) }
      const refused = await get(managementPort, '/set-renewal-info/', JSON.stringify(body))
      if (refused !== '') throw new Error(refused)
    },
    output,
    stop,
    restart: async (more = {}) => {
      await stop()
      child = await begin(more)
    },
  }
}
