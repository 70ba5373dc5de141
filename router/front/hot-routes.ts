import { isIPv4 } from 'node:net'
import { platformService, type Route, type RouteRules } from '@quayside/contract/routes.ts'
import { endpointKey } from './endpoint-keys.ts'

/** The maps by which HAProxy finds the endpoints of requests that it carries on its own. */
export const mapNames = ['shares', 'plain', 'secure'] as const
export type MapName = (typeof mapNames)[number]

/**
 * The lines of one host, each with its key. `plain` has the Host headers of plain HTTP. `secure`
 * has those of TLS, behind the server name of the handshake and a slash. `shares` has the lines of
 * a route with several endpoints: a number, `#`, the host name, `#`.
 */
export type HotLines = Readonly<Record<MapName, readonly (readonly [string, string])[]>>

/** Facts that the table alone does not have. */
export interface HotContext {
  /** The ports of clients. */
  readonly port: string
  readonly tlsPort: string
  /** Whether the host has a certificate. */
  readonly isCertified: boolean
}

/** The rules that the configuration of HAProxy applies to every hot route. */
export const hotRules = { readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 } as const
/** A random number below this one chooses among endpoints. Most counts of replicas divide it. */
export const shareCount = 60
/** More endpoints are left to the router. */
const mostEndpoints = 12
/**
 * A larger body goes to the router, and so do all requests of a route that allows less. An
 * application may answer before it has read the body. HAProxy then closes the connection with the
 * rest of the body unread, and the client can lose the answer. A body of this size usually has been
 * read by then, because it fits into HAProxy's buffer.
 */
export const hotBodyBytes = 8 * 1024

/**
 * Returns the lines of a host if HAProxy carries its only route exactly as the router does.
 * Otherwise undefined: all its requests go to the router. `endpoints` are the current ones.
 */
export function hotLines(route: Route, endpoints: Route['endpoints'], context: HotContext): HotLines | undefined {
  const { port, tlsPort, isCertified } = context
  if (!isHot(route) || endpoints.length === 0 || endpoints.length > mostEndpoints) return undefined
  if (!endpoints.every(({ address }) => isIPv4(address))) return undefined
  const { host, tls } = route
  const lines = endpoints.map((one) => endpointKey(one, route.service))
  const line = lines.length === 1 ? (lines[0] ?? '') : `#${host}#`
  const isPlain = !(tls?.redirects && isCertified)
  return {
    shares: lines.length > 1 ? sharesOf(host, lines) : [],
    plain: isPlain ? namesAt(host, port, '80').map((name) => [name, line]) : [],
    secure: isCertified && tlsPort !== '' ? namesAt(host, tlsPort, '443').map((name) => [`${host}/${name}`, line]) : [],
  }
}

const sharesOf = (host: string, lines: readonly string[]): [string, string][] =>
  Array.from({ length: shareCount }, (_, turn) => [`${turn}#${host}#`, lines[turn % lines.length] ?? ''])

/** Returns the Host headers of a name, with the port if clients must write it. */
const namesAt = (host: string, port: string, usual: string): string[] =>
  port === '' || port === usual ? [host] : [host, `${host}:${port}`]

function isHot(route: Route): boolean {
  const { host, path, rewrite, listen, service, asleep, rules } = route
  if (Object.keys(route).some((name) => !knownMembers.has(name))) return false
  if (host.startsWith('*') || path !== undefined || rewrite !== undefined || listen) return false
  return !asleep && service !== platformService && followsRules(rules ?? {})
}

/** A route with any other member is not hot, so a new one is never ignored. */
const knownMembers: ReadonlySet<string> = new Set<keyof Route>([
  ...(['host', 'path', 'rewrite', 'listen', 'service', 'organization', 'name', 'endpoints'] as const),
  ...(['follow', 'replicas', 'reason', 'asleep', 'rules', 'tls'] as const),
])

const known: ReadonlySet<string> = new Set(['maxBodyBytes', ...Object.keys(hotRules)])

/** Whether a route has no other rules than HAProxy applies. */
function followsRules(rules: RouteRules): boolean {
  if (Object.keys(rules).length === 0) return true
  const { maxBodyBytes = hotBodyBytes } = rules
  return (
    maxBodyBytes >= hotBodyBytes &&
    Object.keys(rules).every((name) => known.has(name)) &&
    rules.readTimeoutMs === hotRules.readTimeoutMs &&
    rules.sendTimeoutMs === hotRules.sendTimeoutMs &&
    rules.clientTimeoutMs === hotRules.clientTimeoutMs
  )
}
