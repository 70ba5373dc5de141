import { lookup } from 'node:dns/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import { codeOf, type Log } from './log.ts'
import type { Presence } from './presence.ts'
import type { Leading, Routes } from './routes.ts'

/** Returns the addresses of a name, none if it has none. Undefined if nobody can say. */
export type Resolve = (name: string) => Promise<readonly string[] | undefined>

/** A name without ready replicas does not exist for a moment while name servers start. */
const looksBeforeEmpty = 2
const atOnce = 4

export interface FollowingOptions {
  readonly routes: Routes
  readonly presence: Pick<Presence, 'isAway'>
  readonly log: Log
  readonly resolve?: Resolve
}

/**
 * Follows the replicas of services by the names in the table while the control plane is away: pods
 * are replaced meanwhile, and another service may get their addresses.
 */
export class Following {
  readonly #options: FollowingOptions
  readonly #resolve: Resolve
  /** How often in a row a name had no address. */
  readonly #empty = new Map<string, number>()
  #isChanged = false
  #cancel = (): void => {}

  constructor(options: FollowingOptions) {
    this.#options = options
    this.#resolve = options.resolve ?? resolveName
  }

  /** Looks again and again, until `stop`. */
  start(): void {
    this.#cancel = after(limits.followMs, () => {
      this.look().then(
        () => this.start(),
        () => this.start(),
      )
    })
  }

  stop(): void {
    this.#cancel()
    this.#cancel = () => {}
  }

  /** Applies the table as the control plane sent it. */
  reset(): void {
    this.#empty.clear()
    if (!this.#isChanged) return
    this.#isChanged = false
    this.#options.routes.apply(this.#options.routes.table)
  }

  /** Looks once. Does nothing while the control plane is there. */
  async look(): Promise<void> {
    const { routes, presence, log } = this.#options
    const { table } = routes
    const names = [
      ...new Set(table.routes.flatMap(({ follow, canary }) => [follow ?? [], canary?.follow ?? []].flat())),
    ]
    if (!presence.isAway || names.length === 0) return
    const found = await this.#resolveAll(names)
    // It may have returned, with another table.
    if (!presence.isAway || routes.table !== table) return
    const leadingOf = (route: Route): Leading => leadingNow(route, found)
    if (table.routes.every((route) => leads(routes, route, leadingOf(route)))) return
    this.#isChanged = true
    log.info('the control plane is away: routes follow the names of their replicas')
    routes.apply(table, leadingOf)
  }

  async #resolveAll(names: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>()
    const left = [...names]
    const work = async (): Promise<void> => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        const addresses = await this.#resolve(name)
        if (addresses === undefined) continue
        const count = addresses.length === 0 ? (this.#empty.get(name) ?? 0) + 1 : 0
        this.#empty.set(name, count)
        if (count === 0 || count >= looksBeforeEmpty) found.set(name, addresses.toSorted())
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return found
  }
}

/** Returns where a route leads at the addresses of its names. */
function leadingNow(route: Route, found: ReadonlyMap<string, readonly string[]>): Leading {
  const endpoints = moved(route, found)
  const trial = route.canary ? moved(route.canary, found) : []
  return trial.length > 0 ? { endpoints, canary: { endpoints: trial } } : { endpoints }
}

/** Whether a route leads to these endpoints already. */
const leads = (routes: Routes, route: Route, { endpoints, canary }: Leading): boolean =>
  isDeepStrictEqual(endpoints, routes.endpointsOf(route).map(plain)) &&
  isDeepStrictEqual(canary?.endpoints ?? [], routes.trialEndpointsOf(route).map(plain))

type Followed = Pick<Route, 'follow' | 'endpoints'>

/** Returns endpoints at the addresses of their name, if they are known. */
function moved(
  { follow, endpoints }: Followed,
  found: ReadonlyMap<string, readonly string[]>,
): readonly RouteEndpoint[] {
  const addresses = follow === undefined ? undefined : found.get(follow)
  const [first] = endpoints
  if (addresses === undefined || !first) return endpoints
  return addresses.map((address) => ({ address, port: first.port }))
}

const plain = ({ address, port }: RouteEndpoint): RouteEndpoint => ({ address, port })

async function resolveName(name: string): Promise<readonly string[] | undefined> {
  try {
    return (await lookup(name, { all: true })).map(({ address }) => address)
  } catch (error) {
    return codeOf(error) === 'ENOTFOUND' ? [] : undefined
  }
}
