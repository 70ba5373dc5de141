import type { Route, RouteEndpoint, RouteTable } from '@quayside/contract/routes.ts'
import { after, monotonic } from './clock.ts'
import { Endpoint, keyOf } from './endpoint.ts'
import { limits } from './limits.ts'
import { normalPath } from './normal-path.ts'
import { forwardedTarget, type Place, Places } from './places.ts'
import { emptyTable } from './route-table.ts'
import { compileRules, type Rules } from './rules.ts'

/** A route with its live endpoints. */
export interface Target {
  readonly route: Route
  readonly place: Place
  /** Its host name has routes by path: requests are matched and passed on in their normal form. */
  readonly byPath: boolean
  readonly endpoints: readonly Endpoint[]
  /** Only of routes that have some. */
  readonly rules: Rules | undefined
}

/** The route table in effect. Endpoints that stay keep their connections; those that left finish what is open on them. */
export class Routes {
  #table: RouteTable = emptyTable
  #targets: readonly Target[] = []
  #hosts = new Map<string, Target | Places<Target>>()
  #endpoints = new Map<string, Endpoint>()
  #turn = 0

  get table(): RouteTable {
    return this.#table
  }

  /**
   * Returns the target of a request. `host` has the form that `hostOf` returns. The host's own
   * routes come first, then those with `*` as its first label. Undefined if none matches, or if the
   * routes go by path and the path has no normal form.
   */
  find(host: string, target = '/'): Target | undefined {
    const found = this.#at(host)
    if (!(found instanceof Places)) return found
    const path = normalPath(target)
    return path === undefined ? undefined : found.find(path)
  }

  /** Why a host whose routes go by path has none for this request: its path has no normal form, or no route begins there. */
  pathFailure(host: string, target: string): 'malformed' | 'absent' | undefined {
    const found = this.#at(host)
    if (!(found instanceof Places)) return undefined
    const path = normalPath(target)
    if (path === undefined) return 'malformed'
    return found.find(path) ? undefined : 'absent'
  }

  #at(host: string): Target | Places<Target> | undefined {
    return this.#hosts.get(host) ?? this.#hosts.get(`*${host.slice(host.indexOf('.'))}`)
  }

  /** From now on, new requests go by this table. */
  apply(table: RouteTable): void {
    const known = this.#endpoints
    const listed = new Map<string, Endpoint>()
    const divided = dividedHosts(table)
    const targets = table.routes.map((route): Target => {
      const endpoints = route.endpoints.map((each) => {
        const key = keyOf(each)
        const endpoint = listed.get(key) ?? known.get(key) ?? new Endpoint(each)
        listed.set(key, endpoint)
        endpoint.tune(route.rules)
        return endpoint
      })
      const { host, path = '/', rewrite, rules } = route
      const byPath = divided.has(host)
      return { route, place: { path, rewrite }, byPath, endpoints, rules: rules && compileRules(rules) }
    })
    this.#table = table
    this.#targets = targets
    this.#hosts = byHost(targets)
    this.#endpoints = new Map(listed)
    for (const endpoint of listed.values()) if (!endpoint.listed) endpoint.listed = true
    for (const [key, endpoint] of known) if (!listed.has(key)) this.#unlist(key, endpoint)
  }

  /** The endpoint for one more request: the wanted one, or the least busy of those that answer; undefined: all are full. */
  choose(target: Target, wanted?: string): Endpoint | undefined {
    const { endpoints } = target
    const own = wanted === undefined ? undefined : usable(endpoints, wanted)
    if (own) return own
    if (endpoints.length === 1) {
      const [only] = endpoints
      return only && only.open < limits.openPerEndpoint ? only : undefined
    }
    return leastBusy(endpoints, this.#turn++, monotonic())
  }

  /** Of every service with endpoints: how many requests those have had, and how many are open. */
  activity(): { service: string; requests: number; open: number }[] {
    const services = new Map<string, Set<Endpoint>>()
    for (const { route, endpoints } of this.#targets) {
      if (endpoints.length === 0) continue
      const known = services.get(route.service)
      if (known) for (const endpoint of endpoints) known.add(endpoint)
      else services.set(route.service, new Set(endpoints))
    }
    return [...services].map(([service, endpoints]) => {
      let [requests, open] = [0, 0]
      for (const endpoint of endpoints) {
        requests += endpoint.total
        open += endpoint.open
      }
      return { service, requests, open }
    })
  }

  /**
   * Waits until nothing is open on these endpoints, at most `timeoutMs` or until `signal`; gives how many requests are
   * still open.
   */
  drain(endpoints: readonly RouteEndpoint[], timeoutMs: number, signal: AbortSignal): Promise<number> {
    const known = endpoints.flatMap((each) => this.#endpoints.get(keyOf(each)) ?? [])
    return new Promise((resolve) => {
      let unsubscribe = (): void => {}
      const end = (): void => {
        cancelTimer()
        unsubscribe()
        signal.removeEventListener('abort', end)
        resolve(known.reduce((sum, endpoint) => sum + endpoint.open, 0))
      }
      const wait = (): void => {
        const busy = known.find((endpoint) => endpoint.open > 0)
        if (busy) unsubscribe = busy.whenIdle(wait)
        else end()
      }
      const cancelTimer = after(timeoutMs, end)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      else wait()
    })
  }

  /** Closes every connection that no request uses, now and as they end. */
  close(): void {
    this.apply({ version: this.#table.version, routes: [] })
  }

  #unlist(key: string, endpoint: Endpoint): void {
    endpoint.listed = false
    if (endpoint.open === 0) return
    this.#endpoints.set(key, endpoint)
    endpoint.whenIdle(() => {
      if (!endpoint.listed && this.#endpoints.get(key) === endpoint) this.#endpoints.delete(key)
    })
  }
}

/** Returns the path and query that an endpoint of the target receives. */
export const seenTarget = ({ byPath, place }: Target, target: string): string =>
  byPath ? forwardedTarget(place, target) : target

/** Host names with a route that does not take every path, or changes it. */
const dividedHosts = ({ routes }: RouteTable): ReadonlySet<string> =>
  new Set(routes.flatMap(({ host, path, rewrite }) => (path === undefined && rewrite === undefined ? [] : [host])))

function byHost(targets: readonly Target[]): Map<string, Target | Places<Target>> {
  const hosts = new Map<string, Target | Places<Target>>()
  for (const [host, own] of Map.groupBy(targets, ({ route }) => route.host)) {
    const [first] = own
    if (first) hosts.set(host, first.byPath ? new Places(own) : first)
  }
  return hosts
}

/** The endpoint with this id, unless it is full or avoided. */
const usable = (endpoints: readonly Endpoint[], wanted: string): Endpoint | undefined =>
  endpoints.find(
    ({ id, open, asideUntil }) => id === wanted && open < limits.openPerEndpoint && asideUntil <= monotonic(),
  )

/** The endpoint with the fewest open requests that is neither full nor avoided; an avoided one where there is no other. */
export function leastBusy(endpoints: readonly Endpoint[], turn: number, now: number): Endpoint | undefined {
  let best: Endpoint | undefined
  let bestAside = false
  for (let index = 0; index < endpoints.length; index++) {
    const endpoint = endpoints[(index + turn) % endpoints.length]
    if (!endpoint || endpoint.open >= limits.openPerEndpoint) continue
    const aside = endpoint.asideUntil > now
    const better = !best || (bestAside && !aside) || (bestAside === aside && endpoint.open < best.open)
    if (!better) continue
    best = endpoint
    bestAside = aside
  }
  return best
}
