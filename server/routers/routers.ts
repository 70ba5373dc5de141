import { AppError } from '../lib/error.ts'
import { type Each, eachOf, type Roster, sameUntil } from '../lib/roster.ts'
import type { Router } from './router.ts'

/** The part of a cluster that decides which router carries its traffic: the name of its engine. */
export interface RouterPlace {
  /** Null if the cluster is only a record. */
  readonly engine: string | null
}

/** Returns the router of a cluster. Throws NoRouterError. */
export type RouterOf = (place: RouterPlace) => Router

/** A router and the name of an engine whose clusters it serves. */
export interface NamedRouter {
  readonly name: string
  readonly router: Router
}

/** The clusters of one router. `engines` is read when it is needed, because engines come and go. */
export interface RouterScope {
  readonly engines: readonly string[]
  /** Set if the router serves all clusters except those of `engines`. */
  readonly isRest: boolean
}

/** A router with the clusters that it serves. `name` is the first of its engines. */
export interface ScopedRouter extends NamedRouter {
  readonly scope: RouterScope
}

/** Thrown for a cluster that no router of this installation serves. */
export class NoRouterError extends AppError {
  constructor({ engine }: RouterPlace) {
    super('conflict', `The cluster needs a router for the engine "${engine}", which this installation does not have.`)
    this.name = 'NoRouterError'
  }
}

/** The routers of this installation by the names of their engines. */
export interface Routers {
  /** The current routers, each once. */
  readonly all: readonly ScopedRouter[]
  /** Creates something for each router while it is there, for work that each needs separately. */
  readonly each: <U>(create: (scoped: ScopedRouter) => U) => Each<U>
  readonly routerOf: RouterOf
}

/**
 * Maps engines to routers; several engines may share one. The first router also serves clusters
 * that are only records or whose engine no longer exists. Throws for an empty roster.
 */
export function createRouters(roster: Roster<NamedRouter>): Routers {
  const [first] = roster.all
  if (!first) throw new Error('there is no router')
  const scoped = (router: Router): ScopedRouter => {
    const isRest = router === first.router
    const isListed = (one: NamedRouter): boolean => (one.router === router) !== isRest
    const engines = sameUntil(
      () => roster.all,
      (all) => all.filter(isListed).map(({ name }) => name),
    )
    const scope: RouterScope = {
      get engines() {
        return engines()
      },
      isRest,
    }
    return { name: roster.all.find((one) => one.router === router)?.name ?? '', router, scope }
  }
  const distinct = sameUntil(
    () => roster.all,
    (named) => [...new Set(named.map(({ router }) => router))],
  )
  const all = eachOf(distinct, scoped)
  return {
    get all() {
      return all.all
    },
    each: (create) => eachOf(() => all.all, create),
    routerOf: (place) => {
      const named = place.engine === null ? first : roster.find(place.engine)
      if (!named) throw new NoRouterError(place)
      return named.router
    },
  }
}

/** Pure: whether a router with this scope serves a cluster. */
export const serves = ({ engines, isRest }: RouterScope, { engine }: RouterPlace): boolean =>
  (engine !== null && engines.includes(engine)) !== isRest

/** The scope of the only router of an installation. */
export const allClusters: RouterScope = { engines: [], isRest: true }
