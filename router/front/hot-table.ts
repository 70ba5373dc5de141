import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { type HotContext, type HotLines, hotLines } from './hot-routes.ts'

/** The lines of hosts, by host. A host whose lines are unchanged keeps its object. */
export type HotHosts = ReadonlyMap<string, HotLines>

/** The facts on which the lines of all hosts depend. */
export interface HotSources extends Omit<HotContext, 'isCertified'> {
  /** Returns the current endpoints of a route: the same list until they change. */
  endpointsOf(route: Route): readonly RouteEndpoint[]
  hasCertificate(host: string): boolean
}

/** The lines of a route, and the facts from which they were computed. */
interface Known {
  readonly endpoints: readonly RouteEndpoint[]
  readonly isCertified: boolean
  readonly lines: HotLines | undefined
}

/** A table with the lines of its routes and hosts. */
interface KnownTable {
  readonly routes: readonly Route[]
  /** One for each route. */
  readonly known: readonly Known[]
  /** The hosts with several routes. They are left to the router. */
  readonly divided: ReadonlySet<string>
  readonly hosts: HotHosts
}

/** Computes the lines of hot routes, and keeps the lines of unchanged routes. */
export class HotTable {
  #known = new WeakMap<Route, Known>()
  #last: KnownTable = { routes: [], known: [], divided: new Set(), hosts: new Map() }
  /** How often the lines of a route were computed. It only grows. */
  computed = 0

  readonly #note: (route: Route, endpoints: readonly RouteEndpoint[]) => void

  /** `note` is called for each route whose lines are computed. */
  constructor(note: (route: Route, endpoints: readonly RouteEndpoint[]) => void = () => {}) {
    this.#note = note
  }

  /** Returns the lines of these routes. Ports of `sources` must not change between calls. */
  hosts(routes: readonly Route[], sources: HotSources): HotHosts {
    const last = this.#last
    const known = routes.map((route, at) => {
      const before = last.routes[at] === route ? last.known[at] : this.#known.get(route)
      return this.#current(route, before, sources)
    })
    this.#last = withChanges(last, routes, known) ?? newTable([...routes], known)
    return this.#last.hosts
  }

  #current(route: Route, before: Known | undefined, sources: HotSources): Known {
    const endpoints = sources.endpointsOf(route)
    const isCertified = sources.hasCertificate(route.host)
    if (before?.endpoints === endpoints && before.isCertified === isCertified) return before
    const { port, tlsPort } = sources
    this.computed++
    this.#note(route, endpoints)
    const next = { endpoints, isCertified, lines: hotLines(route, endpoints, { port, tlsPort, isCertified }) }
    this.#known.set(route, next)
    return next
  }
}

/**
 * Returns a table that has the hosts of the last one in the same order. Undefined if it has other
 * hosts. Most changes are of one route, and a new map of ten thousand hosts takes milliseconds.
 */
function withChanges(last: KnownTable, routes: readonly Route[], known: readonly Known[]): KnownTable | undefined {
  if (routes.length !== last.routes.length) return undefined
  const places = [...known.keys()].filter((at) => known[at] !== last.known[at])
  if (places.some((at) => routes[at]?.host !== last.routes[at]?.host)) return undefined
  if (places.length === 0) return last
  const hosts = new Map(last.hosts)
  for (const at of places) {
    const [host = '', lines] = [routes[at]?.host, known[at]?.lines]
    if (lines && !last.divided.has(host)) hosts.set(host, lines)
    else hosts.delete(host)
  }
  return { routes: [...routes], known, divided: last.divided, hosts }
}

function newTable(routes: readonly Route[], known: readonly Known[]): KnownTable {
  const hosts = new Map<string, HotLines>()
  const [listed, divided] = [new Set<string>(), new Set<string>()]
  for (const [at, { host }] of routes.entries()) {
    if (listed.has(host)) divided.add(host)
    listed.add(host)
    const lines = known[at]?.lines
    if (lines) hosts.set(host, lines)
  }
  for (const host of divided) hosts.delete(host)
  return { routes, known, divided, hosts }
}
