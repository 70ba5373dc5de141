import { isIP } from 'node:net'
import {
  isRoutePath,
  placeOf,
  type Route,
  type RouteCanary,
  type RouteChanges,
  type RouteEndpoint,
  type RoutePort,
  type RouteTable,
  type RouteTls,
} from '@quayside/contract/routes.ts'
import { parsePeople, parsePeopleChanges } from './parse-people.ts'
import { parseRules } from './parse-rules.ts'
import { record } from './record.ts'

export const emptyTable: RouteTable = { version: 0, routes: [] }

/** The first label may be `*`, which matches any one label. */
const hostForm = /^(?=.{1,253}$)(?:\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/** Reads a route table from untrusted data. Throws an Error that names the invalid field. */
export function parseRouteTable(value: unknown): RouteTable {
  const { version, routes, people } = record(value, 'the table')
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0) {
    throw new Error('version: a whole number is expected')
  }
  if (!Array.isArray(routes)) throw new Error('routes: a list is expected')
  const parsed = routes.map((route: unknown, index) => parseRoute(route, `routes[${index}]`))
  checkPlaces(parsed)
  checkPorts(parsed)
  return { version, routes: parsed, ...(people !== undefined && { people: parsePeople(people) }) }
}

function checkPlaces(routes: readonly Route[]): void {
  const places = new Set<string>()
  for (const route of routes) {
    const { host, path = '/' } = route
    const place = placeOf(route)
    if (places.has(place)) throw new Error(`routes: "${path}" of the host name "${host}" is listed twice`)
    places.add(place)
  }
}

/** Throws an Error if two routes share a port. */
export function checkPorts(routes: readonly Route[]): void {
  const ports = new Set<number>()
  for (const { listen } of routes) {
    if (!listen) continue
    if (ports.has(listen.port)) throw new Error(`routes: port ${listen.port} is listed twice`)
    ports.add(listen.port)
  }
}

/** Reads changes from untrusted data. Throws like `parseRouteTable`. */
export function parseRouteChanges(value: unknown): RouteChanges {
  const { from, version, put, gone, people } = record(value, 'the changes')
  if (typeof from !== 'number') throw new Error('from: a number is expected')
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version <= from) {
    throw new Error('version: a whole number above from is expected')
  }
  if (!Array.isArray(put)) throw new Error('put: a list is expected')
  if (!Array.isArray(gone) || !gone.every((place) => typeof place === 'string')) {
    throw new Error('gone: a list of strings is expected')
  }
  return {
    from,
    version,
    put: put.map((route: unknown, index) => parseRoute(route, `put[${index}]`)),
    gone,
    ...(people !== undefined && { people: parsePeopleChanges(people) }),
  }
}

/** Reads a list of endpoints from untrusted data. Throws like `parseRouteTable`. */
export function parseEndpoints(value: unknown, where = 'endpoints'): readonly RouteEndpoint[] {
  if (!Array.isArray(value)) throw new Error(`${where}: a list is expected`)
  return value.map((endpoint: unknown, index) => {
    const { address, port } = record(endpoint, `${where}[${index}]`)
    if (typeof address !== 'string' || isIP(address) === 0) {
      throw new Error(`${where}[${index}].address: an IP address is expected`)
    }
    if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new Error(`${where}[${index}].port: a port number is expected`)
    }
    return { address, port }
  })
}

function parsePort(value: unknown, where: string): RoutePort {
  const { protocol, port } = record(value, where)
  if (protocol !== 'TCP' && protocol !== 'UDP') throw new Error(`${where}.protocol: TCP or UDP is expected`)
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`${where}.port: a port number is expected`)
  }
  return { protocol, port }
}

/** Certificates of a cluster's own issuer are used in front of this router, so it has none. */
function parseTls(value: unknown, where: string): { readonly tls?: RouteTls } {
  if (value === undefined) return {}
  const { from, redirects } = record(value, where)
  if (typeof redirects !== 'boolean') throw new Error(`${where}.redirects: true or false is expected`)
  return from === 'platform' ? { tls: { from, redirects } } : {}
}

function parseSpeech(value: unknown, where: string): Pick<Route, 'speaksHttp2'> {
  if (value === undefined) return {}
  if (typeof value !== 'boolean') throw new Error(`${where}: true or false is expected`)
  return { speaksHttp2: value }
}

function parseOrganization(value: unknown, where: string): Pick<Route, 'organization'> {
  if (value === undefined) return {}
  if (typeof value !== 'string' || value === '') throw new Error(`${where}: a string that is not empty is expected`)
  return { organization: value }
}

function parseFollow(value: unknown, where: string): Pick<Route, 'follow'> {
  if (value === undefined) return {}
  if (typeof value !== 'string' || !hostForm.test(value))
    throw new Error(`${where}: a lower-case host name is expected`)
  return { follow: value }
}

function parseCanary(value: unknown, where: string, hasPort: boolean): { readonly canary?: RouteCanary } {
  if (value === undefined) return {}
  const { release, percent, endpoints, slowMs, follow } = record(value, where)
  if (hasPort) throw new Error(`${where}: a route of a port has none`)
  if (typeof release !== 'string') throw new Error(`${where}.release: a string is expected`)
  if (typeof percent !== 'number' || !Number.isInteger(percent) || percent < 1 || percent > 100) {
    throw new Error(`${where}.percent: a whole number from 1 to 100 is expected`)
  }
  if (slowMs !== undefined && (typeof slowMs !== 'number' || !Number.isInteger(slowMs) || slowMs < 1)) {
    throw new Error(`${where}.slowMs: a whole number from 1 is expected`)
  }
  const parsed = parseEndpoints(endpoints, `${where}.endpoints`)
  if (parsed.length === 0) throw new Error(`${where}.endpoints: at least one is expected`)
  const more = { ...(slowMs !== undefined && { slowMs }), ...parseFollow(follow, `${where}.follow`) }
  return { canary: { release, percent, endpoints: parsed, ...more } }
}

function parseRoute(value: unknown, where: string): Route {
  const given = record(value, where)
  const { host, path, rewrite, listen, service, name, endpoints, follow, reason, asleep, rules, tls } = given
  const port = listen === undefined ? undefined : parsePort(listen, `${where}.listen`)
  const behind = port === undefined ? '' : `:${port.port}`
  if (
    typeof host !== 'string' ||
    !host.endsWith(behind) ||
    !hostForm.test(host.slice(0, host.length - behind.length))
  ) {
    throw new Error(`${where}.host: a lower-case host name ${port ? 'and the port' : 'without port'} is expected`)
  }
  if (typeof service !== 'string') throw new Error(`${where}.service: a string is expected`)
  if (typeof name !== 'string') throw new Error(`${where}.name: a string is expected`)
  if (reason !== undefined && typeof reason !== 'string') throw new Error(`${where}.reason: a string is expected`)
  if (asleep !== undefined && typeof asleep !== 'boolean') throw new Error(`${where}.asleep: true or false is expected`)
  if (path !== undefined && (typeof path !== 'string' || port || !isRoutePath(path))) {
    throw new Error(`${where}.path: a path such as /api is expected, and no path with a port`)
  }
  if (rewrite !== undefined && (typeof rewrite !== 'string' || port || !(rewrite === '/' || isRoutePath(rewrite)))) {
    throw new Error(`${where}.rewrite: a path such as /api or / is expected, and no rewrite with a port`)
  }
  const parsed = { host, service, name, endpoints: parseEndpoints(endpoints, `${where}.endpoints`) }
  return {
    ...parsed,
    ...(path === undefined ? {} : { path }),
    ...(rewrite === undefined ? {} : { rewrite }),
    ...(port === undefined ? {} : { listen: port }),
    ...parseOrganization(given['organization'], `${where}.organization`),
    ...parseFollow(follow, `${where}.follow`),
    ...(reason === undefined ? {} : { reason }),
    ...(asleep === undefined ? {} : { asleep }),
    ...parseSpeech(given['speaksHttp2'], `${where}.speaksHttp2`),
    ...parseTls(tls, `${where}.tls`),
    ...parseCanary(given['canary'], `${where}.canary`, port !== undefined),
    ...(rules === undefined ? {} : { rules: parseRules(rules, `${where}.rules`) }),
  }
}
