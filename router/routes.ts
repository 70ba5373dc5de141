import type { Route, RouteEndpoint, RouteTable } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import { Canaries, type Canary } from './canaries.ts'
import { chooseVersion, leastBusy, usable } from './choose-endpoint.ts'
import { after, monotonic } from './clock.ts'
import { Endpoint, keyOf } from './endpoint.ts'
import { endpointKey } from './front/endpoint-keys.ts'
import type { Tally } from './front/tallies.ts'
import { limits } from './limits.ts'
import { normalPath } from './normal-path.ts'
import { Places } from './places.ts'
import { emptyTable } from './route-table.ts'
import { compileRules } from './rules.ts'
import type { Target } from './target.ts'

/** Where requests of a route go. Without a new version, the endpoints get all of them. */
export interface Leading {
  readonly endpoints: readonly RouteEndpoint[]
  readonly canary?: { readonly endpoints: readonly RouteEndpoint[] }
}

/**
 * The current route table. Listed endpoints keep their connections. Removed ones finish their open
 * requests.
 */
export class Routes {
  readonly canaries = new Canaries()
  #table: RouteTable = emptyTable
  #targets: ReadonlyMap<Route, Target> = new Map()
  #hosts = new Map<string, Target | Places<Target>>()
  #endpoints = new Map<string, Endpoint>()
  #turn = 0
  /** Whether every route has the endpoints of the table. */
  #isAsSent = true

  get table(): RouteTable {
    return this.#table
  }

  /** Returns the lists to which rules of the table refer. */
  get people(): PeopleLists {
    return this.#table.people ?? noPeople
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

  /**
   * Returns why a host with routes by path has none for this request: the path has no normal form,
   * or no route has it.
   */
  pathFailure(host: string, target: string): 'malformed' | 'absent' | undefined {
    const found = this.#at(host)
    if (!(found instanceof Places)) return undefined
    const path = normalPath(target)
    if (path === undefined) return 'malformed'
    return found.find(path) ? undefined : 'absent'
  }

  /** Returns the targets of all paths of a host. */
  all(host: string): readonly Target[] {
    const found = this.#at(host)
    return found instanceof Places ? found.all : found ? [found] : []
  }

  #at(host: string): Target | Places<Target> | undefined {
    return this.#hosts.get(host) ?? this.#hosts.get(`*${host.slice(host.indexOf('.'))}`)
  }

  /**
   * Returns the endpoints that a route of the table has now: the same list until the route or its
   * endpoints change.
   */
  endpointsOf(route: Route): readonly RouteEndpoint[] {
    return this.#targets.get(route)?.endpoints ?? noEndpoints
  }

  /** Returns the endpoints that its new version has now. */
  trialEndpointsOf(route: Route): readonly RouteEndpoint[] {
    return this.#targets.get(route)?.trial?.endpoints ?? noEndpoints
  }

  /** Whether a route of the table has an endpoint now. */
  lists(endpoint: RouteEndpoint): boolean {
    return this.#endpoints.get(keyOf(endpoint))?.listed ?? false
  }

  /**
   * Replaces the table. New requests use this one. Routes that are objects of the previous table
   * keep their targets. `leadingOf` returns other endpoints for its routes.
   */
  apply(table: RouteTable, leadingOf?: (route: Route) => Leading): void {
    const known = this.#endpoints
    const listed = new Map<string, Endpoint>()
    const divided = dividedHosts(table)
    const kept = leadingOf === undefined && this.#isAsSent ? this.#targets : noTargets
    this.canaries.follow(table)
    const endpointAt = (each: RouteEndpoint): Endpoint => {
      const key = keyOf(each)
      const endpoint = listed.get(key) ?? known.get(key) ?? new Endpoint(each)
      listed.set(key, endpoint)
      return endpoint
    }
    const list = (endpoints: readonly Endpoint[], route: Route, canary?: Canary): void => {
      for (const endpoint of endpoints) {
        listed.set(endpoint.key, endpoint)
        endpoint.tune(route)
        endpoint.canary = canary
      }
    }
    const targets = table.routes.map((route): Target => {
      const byPath = divided.has(route.host)
      const last = kept.get(route)
      const leading = leadingOf?.(route) ?? route
      const endpoints = last?.endpoints ?? leading.endpoints.map(endpointAt)
      list(endpoints, route)
      const canary = leading.canary && this.canaries.of(route.service)
      const trial = canary && { canary, endpoints: (leading.canary?.endpoints ?? []).map(endpointAt) }
      if (trial) list(trial.endpoints, route, canary)
      if (last?.byPath === byPath && !trial) return last
      const { path = '/', rewrite, rules } = route
      return { route, place: { path, rewrite }, byPath, endpoints, trial, rules: rules && compileRules(rules) }
    })
    this.#isAsSent = leadingOf === undefined
    this.#table = table
    this.#targets = byRoute(targets)
    this.#hosts = byHost(targets)
    this.#endpoints = new Map(listed)
    for (const endpoint of listed.values()) if (!endpoint.listed) endpoint.listed = true
    for (const [key, endpoint] of known) if (!listed.has(key)) this.#unlist(key, endpoint)
  }

  /**
   * Returns the endpoint for one more request: a wanted one if it is usable, otherwise the least
   * busy. Undefined if all are full. While a new version is being tried out, the request goes to
   * the version whose turn it is.
   */
  choose(target: Target, wanted: readonly string[] = noneWanted, isRetry = false): Endpoint | undefined {
    const { endpoints, trial } = target
    if (trial) return chooseVersion(target, trial, { wanted, isRetry, turn: this.#turn++ })
    const own = usable(endpoints, wanted)
    if (own) return own
    if (endpoints.length === 1) {
      const [only] = endpoints
      return only && only.open < limits.openPerEndpoint ? only : undefined
    }
    return leastBusy(endpoints, this.#turn++, monotonic())
  }

  /**
   * Returns the total and open requests of every service that has endpoints. `others` are the
   * requests that another program carried, by the key of their endpoint.
   */
  activity(others?: ReadonlyMap<string, Tally>): { service: string; requests: number; open: number }[] {
    const services = new Map<string, Set<Endpoint>>()
    for (const { route, endpoints: own, trial } of this.#targets.values()) {
      const endpoints = trial ? [...own, ...trial.endpoints] : own
      if (endpoints.length === 0) continue
      const known = services.get(route.service)
      if (known) for (const endpoint of endpoints) known.add(endpoint)
      else services.set(route.service, new Set(endpoints))
    }
    return [...services].map(([service, endpoints]) => {
      let [requests, open] = [0, 0]
      for (const endpoint of endpoints) {
        const other = others?.get(endpointKey(endpoint, service))
        requests += endpoint.total + (other?.total ?? 0)
        open += endpoint.open + (other?.open ?? 0)
      }
      return { service, requests, open }
    })
  }

  /**
   * Waits until these endpoints have no open requests, for at most `timeoutMs` or until `signal`.
   * Returns how many requests are still open.
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

  /** Closes every idle connection now, and the others as their requests end. */
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

const noEndpoints: readonly RouteEndpoint[] = []
const noneWanted: readonly string[] = []
const noPeople: PeopleLists = {}
const noTargets: ReadonlyMap<Route, Target> = new Map()

/** Returns the host names with a route that has a path or rewrites one. */
function dividedHosts({ routes }: RouteTable): ReadonlySet<string> {
  const hosts = new Set<string>()
  for (const { host, path, rewrite } of routes) if (path !== undefined || rewrite !== undefined) hosts.add(host)
  return hosts
}

function byRoute(targets: readonly Target[]): ReadonlyMap<Route, Target> {
  const routes = new Map<Route, Target>()
  for (const target of targets) routes.set(target.route, target)
  return routes
}

function byHost(targets: readonly Target[]): Map<string, Target | Places<Target>> {
  const hosts = new Map<string, Target | Places<Target>>()
  const divided = new Map<string, Target[]>()
  for (const target of targets) {
    const { host } = target.route
    if (!target.byPath) {
      if (!hosts.has(host)) hosts.set(host, target)
      continue
    }
    const own = divided.get(host)
    if (own) own.push(target)
    else divided.set(host, [target])
  }
  for (const [host, own] of divided) hosts.set(host, new Places(own))
  return hosts
}
