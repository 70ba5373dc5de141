import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFile, writeFile } from 'node:fs/promises'
import { codeOf } from '../log.ts'
import { buildOf } from './start-haproxy.ts'

/**
 * The first version that serves HTTP/3. Earlier ones end when a response begins with a status 1xx
 * (3.0.11 was tried), or may end when a stream is reset (the changelog of 3.2.25).
 */
const firstVersion = '3.2.25'

export interface Http3Wishes {
  /** Whether the operator wants it. */
  readonly isWanted: boolean
  /** The program HAProxy. */
  readonly program: string
  readonly host: string
  /** The port of HTTPS. Undefined: HTTP only. */
  readonly tlsPort: number | undefined
  /** Networks of proxies in front of the router. */
  readonly proxies: readonly string[]
}

/**
 * Returns why HAProxy does not serve HTTP/3. Undefined if it does. Clients behind a proxy speak to
 * the proxy, which passes on no datagrams of theirs.
 */
export async function whyNoHttp3({
  isWanted,
  program,
  host,
  tlsPort,
  proxies,
}: Http3Wishes): Promise<string | undefined> {
  if (!isWanted) return 'QUAYSIDE_HTTP3 is not on'
  if (tlsPort === undefined) return 'the router has no port of HTTPS'
  if (proxies.length > 0) return 'clients come through proxies'
  if (!speaksHttp3(await buildOf(program))) return `this HAProxy is older than ${firstVersion} or has no QUIC`
  return (await isUdpFree(host, tlsPort)) ? undefined : `another program uses UDP port ${tlsPort}`
}

/** Returns whether a build of HAProxy, as `haproxy -vv` describes it, can serve HTTP/3. */
export function speaksHttp3(build: string): boolean {
  const [, version = '0'] = /^HAProxy version (\d+(?:\.\d+)*)/.exec(build) ?? []
  const features = build.split('\n').find((line) => line.startsWith('Feature list :')) ?? ''
  const isCurrent = version.localeCompare(firstVersion, 'en', { numeric: true }) >= 0
  return isCurrent && features.split(' ').includes('+QUIC')
}

/** Whether HAProxy may listen at a UDP port, beside an HAProxy of the same user. */
function isUdpFree(address: string, port: number): Promise<boolean> {
  const probe = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reusePort: true })
  return new Promise((resolve) => {
    probe.once('error', () => probe.close(() => resolve(false)))
    probe.bind({ address, port }, () => probe.close(() => resolve(true)))
  })
}

/**
 * Returns the secret by which each HAProxy of an installation tells clients that connections of an
 * ended one are gone. Makes it if the file is missing.
 */
export async function http3Secret(file: string): Promise<string> {
  try {
    await writeFile(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  return readFile(file, 'utf8')
}
