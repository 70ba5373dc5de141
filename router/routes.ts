import type { Route, RouteEndpoint, RouteTable } from '@quayside/contract/routes.ts'
import { after, monotonic } from './clock.ts'
import { Endpoint, keyOf } from './endpoint.ts'
import { limits } from './limits.ts'
import { emptyTable } from './route-table.ts'
import { compileRules, type Rules } from './rules.ts'

/** A route with its live endpoints. */
export interface Target {
  readonly route: Route
  readonly endpoints: readonly Endpoint[]
  /** Only of routes that have some. */
  readonly rules: Rules | undefined
}

/** The route table in effect. Endpoints that stay keep their connections; those that left finish what is open on them. */
export class Routes {
  #table: RouteTable = emptyTable
  #targets = new Map<string, Target>()
  #endpoints = new Map<string, Endpoint>()
  #turn = 0

  get table(): RouteTable {
    return this.#table
  }

  /** The target of a host name in the form that `hostOf` gives: its own, else that of `*.` and all behind its first label. */
  find(host: string): Target | undefined {
    return this.#targets.get(host) ?? this.#targets.get(`*${host.slice(host.indexOf('.'))}`)
  }

  /** From now on, new requests go by this table. */
  apply(table: RouteTable): void {
    const known = this.#endpoints
    const listed = new Map<string, Endpoint>()
    const targets = new Map<string, Target>()
    for (const route of table.routes) {
      const endpoints = route.endpoints.map((each) => {
        const key = keyOf(each)
        const endpoint = listed.get(key) ?? known.get(key) ?? new Endpoint(each)
        listed.set(key, endpoint)
        endpoint.tune(route.rules)
        return endpoint
      })
      targets.set(route.host, { route, endpoints, rules: route.rules && compileRules(route.rules) })
    }
    this.#table = table
    this.#targets = targets
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
    for (const { route, endpoints } of this.#targets.values()) {
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
