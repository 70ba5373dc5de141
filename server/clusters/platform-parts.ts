import type { Database, Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { engineOfCluster, findCluster, insertBuiltInCluster } from './cluster-store.ts'
import type { ClusterFinding, ClusterParts } from './cluster-workflow.ts'

/** The fields of a cluster that decide which engine and which router it has. */
interface Place {
  readonly engine: string | null
}

/** The part of an engine that operations on clusters use. */
export interface ReachedEngine {
  ping(signal: AbortSignal): Promise<void>
  listFindings(signal: AbortSignal): Promise<readonly ClusterFinding[]>
}

/** The part of a builder that operations on clusters use. */
export interface ReachedBuilder {
  readonly publishProblem?: (signal: AbortSignal) => Promise<string | undefined>
}

/** The part of a router that operations on clusters use. */
export interface ReachedRouter {
  renew(signal: AbortSignal): Promise<void>
  listFindings(signal: AbortSignal): Promise<readonly ClusterFinding[]>
}

/** What operations on clusters need of other rooms. */
export interface PlatformPartsOptions {
  readonly database: Database
  readonly engineOf: (place: Place) => ReachedEngine
  readonly builderOf: (place: Place) => ReachedBuilder
  readonly publisherOf: (place: Place) => { apply(signal: AbortSignal): Promise<unknown> }
  readonly routerOf: (place: Place) => ReachedRouter
}

/** The platform's own parts on the clusters of this installation. */
export const createPlatformParts = ({
  database,
  engineOf,
  routerOf,
  builderOf,
  publisherOf,
}: PlatformPartsOptions): ClusterParts => ({
  checkEngine: async (id, signal) => engineOf({ engine: await engineOfCluster(database, id) }).ping(signal),
  listFindings: async (id, signal) => {
    const place = { engine: await engineOfCluster(database, id) }
    const lists = [engineOf(place), routerOf(place)].map((part) => part.listFindings(signal))
    return (await Promise.all([...lists, publishFindings(builderOf(place), signal)])).flat()
  },
  renewRouter: async (id, signal) => routerOf({ engine: await engineOfCluster(database, id) }).renew(signal),
  publishRoutes: async (id, signal) =>
    void (await publisherOf({ engine: await engineOfCluster(database, id) }).apply(signal)),
})

/** Images that cannot be published keep every deployment from starting. */
async function publishFindings(builder: ReachedBuilder, signal: AbortSignal): Promise<ClusterFinding[]> {
  const message = await builder.publishProblem?.(signal)
  return message === undefined ? [] : [{ message, isBlocking: true }]
}

/** Adds the cluster of this machine to a new organization. */
export const addBuiltInCluster = (sql: Sql, organizationId: string, now: Date): Promise<void> =>
  insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })

/**
 * Returns the id of an organization's cluster, or of its default one if none is named. Undefined if
 * it has no such cluster.
 */
export const findClusterId = async (sql: Sql, organizationId: string, id: string | undefined) =>
  (await findCluster(sql, organizationId, id))?.id
