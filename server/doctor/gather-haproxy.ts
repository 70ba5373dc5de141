import { messageOf } from '../lib/error.ts'
import { run } from '../lib/run.ts'
import type { Facts, HaproxyFact } from './facts.ts'

/** The settings that decide whether and how a router of this machine starts HAProxy. */
export interface HaproxySettings {
  readonly haproxy: string | undefined
  /** Undefined: no router runs on this machine. */
  readonly dockerSocket: string | undefined
}

/** The settings that decide whether HAProxy is to serve HTTP/3. */
export interface Http3Settings {
  readonly http3: boolean
  readonly routerTls: { readonly port: number } | undefined
  readonly trustedProxies: readonly string[]
  readonly proxyProtocol: readonly string[]
}

const versionMs = 10_000
const descriptionBytes = 64 * 1024

/**
 * Asks the program HAProxy for its version and its build. It is looked up as the router does. Never
 * rejects. Undefined if no router uses it.
 */
export async function gatherHaproxy({ haproxy, dockerSocket }: HaproxySettings): Promise<HaproxyFact | undefined> {
  if (haproxy === undefined || dockerSocket === undefined) return undefined
  try {
    const ended = await run(haproxy, ['-vv'], { timeoutMs: versionMs, maxBytes: descriptionBytes })
    if (ended.exitCode !== 0) return { program: haproxy, reason: `it ended with exit code ${ended.exitCode}` }
    return { program: haproxy, said: ended.stdout.toString() }
  } catch (error) {
    return { program: haproxy, reason: reasonOf(error) }
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'this user may not run it',
  ENOTDIR: 'its path leads through a file',
}

function reasonOf(error: unknown): string {
  // Some errors of the system are thrown as they are.
  const cause = (error instanceof Error && error.cause) || error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return reasons[code] ?? messageOf(cause)
}

/** Returns what HTTP/3 needs beside HAProxy. Undefined if it is off. */
export const http3Wishes = ({ http3, routerTls, trustedProxies, proxyProtocol }: Http3Settings): Facts['http3'] =>
  http3 ? { tlsPort: routerTls?.port, proxies: [...trustedProxies, ...proxyProtocol] } : undefined
