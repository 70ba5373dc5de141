import { AppError } from '../lib/error.ts'
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

/** The clusters of one router. */
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
  /** All routers, each once, for work that each router needs separately. */
  readonly all: readonly ScopedRouter[]
  readonly routerOf: RouterOf
}

/**
 * Maps engines to routers; several engines may share one. The first router also serves clusters
 * that are only records or whose engine no longer exists. Throws if an engine has two routers.
 */
export function createRouters(named: readonly NamedRouter[]): Routers {
  const byName = new Map(named.map(({ name, router }) => [name, router]))
  if (byName.size < named.length) throw new Error('an engine has two routers')
  const [first] = named
  if (!first) throw new Error('there is no router')
  const groups = [...Map.groupBy(named, ({ router }) => router)]
  const others = named.flatMap(({ name, router }) => (router === first.router ? [] : [name]))
  const all = groups.map(([router, own]): ScopedRouter => {
    const engines = own.map(({ name }) => name)
    const isRest = router === first.router
    return { name: engines[0] ?? '', router, scope: { engines: isRest ? others : engines, isRest } }
  })
  return {
    all,
    routerOf: (place) => {
      const router = place.engine === null ? first.router : byName.get(place.engine)
      if (!router) throw new NoRouterError(place)
      return router
    },
  }
}

/** Pure: whether a router with this scope serves a cluster. */
export const serves = ({ engines, isRest }: RouterScope, { engine }: RouterPlace): boolean =>
  (engine !== null && engines.includes(engine)) !== isRest

/** The scope of the only router of an installation. */
export const allClusters: RouterScope = { engines: [], isRest: true }
