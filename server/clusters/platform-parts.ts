import type { Database, Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { engineOfCluster, findCluster, insertBuiltInCluster } from './cluster-store.ts'
import type { ClusterParts } from './cluster-workflow.ts'

/** The part of a cluster that decides which engine and which router it has. */
interface Place {
  readonly engine: string | null
}

/** What operations on clusters need of other rooms. */
export interface PlatformPartsOptions {
  readonly database: Database
  readonly engineOf: (place: Place) => { ping(signal: AbortSignal): Promise<void> }
  readonly publisherOf: (place: Place) => { apply(signal: AbortSignal): Promise<unknown> }
  /** Has the router process exchanged if it has another version. */
  readonly renewRouter: () => void
}

/** The platform's own parts on the clusters of this installation. */
export const createPlatformParts = ({
  database,
  engineOf,
  publisherOf,
  renewRouter,
}: PlatformPartsOptions): ClusterParts => ({
  checkEngine: async (id, signal) => engineOf({ engine: await engineOfCluster(database, id) }).ping(signal),
  renewRouter: async () => renewRouter(),
  publishRoutes: async (id, signal) =>
    void (await publisherOf({ engine: await engineOfCluster(database, id) }).apply(signal)),
})

/** Gives a new organization the cluster of this machine. */
export const addBuiltInCluster = (sql: Sql, organizationId: string, now: Date): Promise<void> =>
  insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })

/**
 * Returns the id of an organization's cluster, or of its default one if none is named; undefined if
 * it has no such cluster.
 */
export const findClusterId = async (sql: Sql, organizationId: string, id: string | undefined) =>
  (await findCluster(sql, organizationId, id))?.id
