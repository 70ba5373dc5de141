import { isIPv4 } from 'node:net'
import type { Route, RouteRules } from '@quayside/contract/routes.ts'

/** The key of a request in a map of HAProxy, and its line. */
export type HotLines = ReadonlyMap<string, string>

/** The maps by which HAProxy finds the endpoints of requests that it carries on its own. */
export interface HotMaps {
  /** For plain HTTP: the Host header. */
  readonly plain: HotLines
  /** For TLS: the server name of the handshake, a slash, and the Host header. */
  readonly secure: HotLines
  /** The lines of routes with several endpoints: `#`, the host name, `#`, and a number. */
  readonly shares: HotLines
}

/** Facts that the table alone does not have. */
export interface HotContext {
  /** The ports of clients. */
  readonly port: string
  readonly tlsPort: string
  /** Returns whether a host has a certificate. */
  hasCertificate(host: string): boolean
  /** The service whose requests get a secret. */
  readonly door: string | undefined
}

/** The rules that the configuration of HAProxy applies to every hot route. */
export const hotRules = { readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 } as const
/** A random number below this one chooses among endpoints. Most counts of replicas divide it. */
export const shareCount = 60
/** More endpoints are left to the router. */
const mostEndpoints = 12
/** A body of any size. */
const anyBytes = Number.MAX_SAFE_INTEGER

/**
 * Returns the lines of the routes that HAProxy carries exactly as the router does. All other
 * requests go to the router. `endpointsOf` returns the current endpoints of a route.
 */
export function hotMaps(
  routes: readonly Route[],
  endpointsOf: (route: Route) => Route['endpoints'],
  context: HotContext,
): HotMaps {
  const [plain, secure, shares] = [new Map<string, string>(), new Map<string, string>(), new Map<string, string>()]
  for (const [host, own] of Map.groupBy(routes, (route) => route.host)) {
    const [route] = own
    if (own.length !== 1 || !route || !isHot(route, context)) continue
    const endpoints = endpointsOf(route)
    if (endpoints.length === 0 || endpoints.length > mostEndpoints) continue
    if (!endpoints.every(({ address }) => isIPv4(address))) continue
    const most = route.rules?.maxBodyBytes ?? anyBytes
    const lines = endpoints.map(({ address, port }) => `${address}:${port} ${most}`)
    const line = lines.length === 1 ? (lines[0] ?? '') : `#${host}# ${most}`
    if (lines.length > 1) for (const [key, one] of sharesOf(host, lines)) shares.set(key, one)
    const isCertified = context.hasCertificate(host)
    if (!(route.tls?.redirects && isCertified))
      for (const name of namesAt(host, context.port, '80')) plain.set(name, line)
    if (isCertified) for (const name of namesAt(host, context.tlsPort, '443')) secure.set(`${host}/${name}`, line)
  }
  return { plain, secure, shares }
}

const sharesOf = (host: string, lines: readonly string[]): [string, string][] =>
  Array.from({ length: shareCount }, (_, turn) => [`#${host}#${turn}`, lines[turn % lines.length] ?? ''])

/** Returns the Host headers of a name, with the port if clients must write it. */
const namesAt = (host: string, port: string, usual: string): string[] =>
  port === '' || port === usual ? [host] : [host, `${host}:${port}`]

function isHot(route: Route, { door }: HotContext): boolean {
  const { host, path, rewrite, listen, service, asleep, rules } = route
  if (Object.keys(route).some((name) => !knownMembers.has(name))) return false
  if (host.startsWith('*') || path !== undefined || rewrite !== undefined || listen) return false
  return !asleep && service !== door && followsRules(rules ?? {})
}

/** A route with any other member is not hot, so a new one is never ignored. */
const knownMembers: ReadonlySet<string> = new Set<keyof Route>([
  ...(['host', 'path', 'rewrite', 'listen', 'service', 'name', 'endpoints'] as const),
  ...(['follow', 'replicas', 'reason', 'asleep', 'rules', 'tls'] as const),
])

const known: ReadonlySet<string> = new Set(['maxBodyBytes', ...Object.keys(hotRules)])

/** Whether a route has no other rules than HAProxy applies. */
function followsRules(rules: RouteRules): boolean {
  if (Object.keys(rules).length === 0) return true
  return (
    Object.keys(rules).every((name) => known.has(name)) &&
    rules.readTimeoutMs === hotRules.readTimeoutMs &&
    rules.sendTimeoutMs === hotRules.sendTimeoutMs &&
    rules.clientTimeoutMs === hotRules.clientTimeoutMs
  )
}
