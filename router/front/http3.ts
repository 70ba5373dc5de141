import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFile, writeFile } from 'node:fs/promises'
import { whyNoHttp3 } from '@quayside/contract/http3.ts'
import { codeOf } from '../log.ts'
import { buildOf } from './start-haproxy.ts'

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

/** Returns why HAProxy does not serve HTTP/3. Undefined if it does. */
export async function whyNot({ isWanted, program, host, tlsPort, proxies }: Http3Wishes): Promise<string | undefined> {
  if (!isWanted) return 'QUAYSIDE_HTTP3 is not on'
  const reason = whyNoHttp3({ tlsPort, proxies, build: await buildOf(program) })
  if (reason !== undefined || tlsPort === undefined) return reason
  return (await isUdpFree(host, tlsPort)) ? undefined : `another program uses UDP port ${tlsPort}`
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
