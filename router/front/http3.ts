import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { whyNoHttp3 } from '@quayside/contract/http3.ts'
import { codeOf, describe } from '../log.ts'
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
  return whyNotAt(host, tlsPort)
}

/** Returns why HAProxy cannot listen at a UDP port, beside an HAProxy of the same user. */
function whyNotAt(address: string, port: number): Promise<string | undefined> {
  const probe = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', reusePort: true })
  return new Promise((resolve) => {
    const end = (reason?: string): void => void probe.close(() => resolve(reason))
    probe.once('error', (error) => {
      const isUsed = codeOf(error) === 'EADDRINUSE'
      end(isUsed ? `another program uses UDP port ${port}` : `UDP port ${port} cannot be used: ${describe(error)}`)
    })
    probe.bind({ address, port }, () => end())
  })
}

const secretForm = /^[0-9a-f]{64}$/

/**
 * Returns the secret by which an HAProxy tells clients that connections of an earlier one are gone.
 * It is the same for all of an installation, also if two of its routers start at once. Makes it if
 * the file has none.
 */
export async function http3Secret(file: string): Promise<string> {
  const draft = `${file}.${process.pid}`
  try {
    const kept = await readKept(file)
    if (kept !== undefined && secretForm.test(kept)) return kept
    await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600 })
    // A damaged file is replaced. A missing one is made once: the link fails for the second router.
    if (kept !== undefined) await rename(draft, file)
    else await link(draft, file).catch(unlessThere)
    return await readFile(file, 'utf8')
  } finally {
    await rm(draft, { force: true })
  }
}

const unlessThere = (error: unknown): void => {
  if (codeOf(error) !== 'EEXIST') throw error
}

/** Undefined if there is no such file. */
async function readKept(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
