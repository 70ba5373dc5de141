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

interface Known {
  readonly endpoints: readonly RouteEndpoint[]
  readonly isCertified: boolean
  readonly lines: HotLines | undefined
}

/** Computes the lines of hot routes, and keeps the lines of unchanged routes. */
export class HotTable {
  #known = new WeakMap<Route, Known>()
  /** How often the lines of a route were computed. It only grows. */
  computed = 0

  readonly #note: (route: Route, endpoints: readonly RouteEndpoint[]) => void

  /** `note` is called for each route whose lines are computed. */
  constructor(note: (route: Route, endpoints: readonly RouteEndpoint[]) => void = () => {}) {
    this.#note = note
  }

  /** Returns the lines of these routes. Ports of `sources` must not change between calls. */
  hosts(routes: readonly Route[], sources: HotSources): HotHosts {
    const hosts = new Map<string, HotLines | undefined>()
    for (const route of routes) {
      // A host with several routes is left to the router.
      hosts.set(route.host, hosts.has(route.host) ? undefined : this.#linesOf(route, sources))
    }
    const hot = new Map<string, HotLines>()
    for (const [host, lines] of hosts) if (lines) hot.set(host, lines)
    return hot
  }

  #linesOf(route: Route, { endpointsOf, hasCertificate, ...context }: HotSources): HotLines | undefined {
    const endpoints = endpointsOf(route)
    const isCertified = hasCertificate(route.host)
    const known = this.#known.get(route)
    if (known && known.endpoints === endpoints && known.isCertified === isCertified) {
      return known.lines
    }
    this.computed++
    this.#note(route, endpoints)
    const lines = hotLines(route, endpoints, { ...context, isCertified })
    this.#known.set(route, { endpoints, isCertified, lines })
    return lines
  }
}
