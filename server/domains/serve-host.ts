import type { Database } from '../database/index.ts'
import { everyOne } from '../lib/every-one.ts'
import type { RoutePublishers } from './publisher.ts'
import { listRoutersOf } from './secured-host-store.ts'

/** A host, or the wildcard of a cluster's domain. */
interface ServedHost {
  readonly host: string
  /** The id of the cluster. Undefined: `host` is not its wildcard. */
  readonly cluster: string | undefined
}

/** Sends what they lack to the routers of a host. Rejects if one of them cannot be reached. */
export type ServeHost = (host: ServedHost, signal: AbortSignal) => Promise<void>

/**
 * Creates what sends tables and certificates to the platform's own routers that serve a host. The
 * router of this machine serves names that have no route.
 */
export const createServeHost =
  ({
    database,
    routes,
  }: {
    readonly database: Database
    readonly routes: Pick<RoutePublishers, 'publisherOf'>
  }): ServeHost =>
  async (host, signal) => {
    const found = await listRoutersOf(database, host)
    const places = found.length === 0 ? [{ engine: null }] : found
    await everyOne(places.map((place) => routes.publisherOf(place).apply(signal)))
  }
