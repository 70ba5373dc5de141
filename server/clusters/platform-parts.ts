import type { Database, Sql } from '../database/index.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import { newId } from '../lib/id.ts'
import { engineOfCluster, findCluster, insertBuiltInCluster } from './cluster-store.ts'
import type { ClusterFinding, ClusterParts } from './cluster-workflow.ts'
import { listEnvironmentsOf } from './part-store.ts'

/** The fields of a cluster that decide which engine and which router it has. */
interface Place {
  readonly engine: string | null
}

/**
 * The part of an engine that operations on clusters use. `Release` is what it starts, which this
 * room only passes on.
 */
export interface ReachedEngine<Release> {
  ping(signal: AbortSignal): Promise<void>
  listFindings(signal: AbortSignal): Promise<readonly ClusterFinding[]>
  renewEnvironment(
    environment: string,
    releases: () => Promise<readonly Release[]>,
    attempt: Attempt,
  ): Promise<string[]>
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
export interface PlatformPartsOptions<Release> {
  readonly database: Database
  readonly engineOf: (place: Place) => ReachedEngine<Release>
  /** Returns the releases of an environment that should run. */
  readonly releasesOf: (place: Place, environmentId: string) => Promise<readonly Release[]>
  /** Repeats work while the engine of the cluster cannot be reached. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
  readonly builderOf: (place: Place) => ReachedBuilder
  readonly publisherOf: (place: Place) => { apply(signal: AbortSignal): Promise<unknown> }
  readonly routerOf: (place: Place) => ReachedRouter
}

/** The platform's own parts on the clusters of this installation. */
export const createPlatformParts = <Release>({
  database,
  engineOf,
  releasesOf,
  patiently,
  routerOf,
  builderOf,
  publisherOf,
}: PlatformPartsOptions<Release>): ClusterParts => ({
  checkEngine: async (id, signal) => engineOf({ engine: await engineOfCluster(database, id) }).ping(signal),
  listFindings: async (id, signal) => {
    const place = { engine: await engineOfCluster(database, id) }
    const lists = [engineOf(place), routerOf(place)].map((part) => part.listFindings(signal))
    return (await Promise.all([...lists, publishFindings(builderOf(place), signal)])).flat()
  },
  listEnvironments: async (id) =>
    (await listEnvironmentsOf(database, id)).map((row) => ({ id: row.environment_id, name: row.environment_name })),
  renewEnvironment: async (id, environmentId, signal) => {
    const place = { engine: await engineOfCluster(database, id) }
    const attempt = { signal, output: silent }
    return patiently(attempt, () =>
      engineOf(place).renewEnvironment(environmentId, () => releasesOf(place, environmentId), attempt),
    )
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
