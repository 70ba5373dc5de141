import type { ClusterTls } from '@quayside/contract/routes.ts'
import type { Database, Sql } from '../database/index.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { type EnvironmentRow, findEnvironment } from '../organizations/index.ts'
import { engineOfCluster, findCluster, insertBuiltInCluster } from './cluster-store.ts'
import type { ClusterFinding, ClusterParts } from './cluster-workflow.ts'
import { hasOpenRequest, hasRunningService, listEnvironmentsOf, tlsOfCluster } from './part-store.ts'

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
  eraseAll(attempt: Attempt): Promise<string[]>
}

/** Who stops or deletes the environments of a cluster. */
export interface EnvironmentRequester {
  readonly id: string
  readonly name: string
  readonly origin: 'QOVERY_INTERNAL'
}

/** Requests for whole environments. Each returns once the request is accepted. */
export interface EnvironmentRequests {
  readonly stop: (row: EnvironmentRow, by: EnvironmentRequester) => Promise<void>
  readonly remove: (row: EnvironmentRow, by: EnvironmentRequester) => Promise<void>
}

/** The part of a builder that operations on clusters use. */
export interface ReachedBuilder {
  readonly publishProblem?: (signal: AbortSignal) => Promise<string | undefined>
}

/** The part of a router that operations on clusters use. */
export interface ReachedRouter {
  renew(signal: AbortSignal): Promise<void>
  listFindings(signal: AbortSignal, tls?: ClusterTls): Promise<readonly ClusterFinding[]>
}

/** The drivers of clusters. */
export interface ClusterDrivers<Release> {
  readonly engineOf: (place: Place) => ReachedEngine<Release>
  readonly builderOf: (place: Place) => ReachedBuilder
  readonly publisherOf: (place: Place) => { apply(signal: AbortSignal): Promise<unknown> }
  readonly routerOf: (place: Place) => ReachedRouter
  /** Replaces drivers whose cluster has other settings now. */
  readonly refresh: (signal: AbortSignal) => Promise<void>
}

/** What operations on clusters need of other rooms. */
export interface PlatformPartsOptions<Release> extends ClusterDrivers<Release> {
  readonly database: Database
  /** Returns the releases of an environment that should run. */
  readonly releasesOf: (place: Place, environmentId: string) => Promise<readonly Release[]>
  readonly environments: EnvironmentRequests
  readonly clock: Clock
  /** Repeats work while the engine of the cluster cannot be reached. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
}

/** The platform's own parts on the clusters of this installation. */
export const createPlatformParts = <Release>({
  database,
  engineOf,
  releasesOf,
  patiently,
  environments,
  clock,
  routerOf,
  builderOf,
  publisherOf,
  refresh,
}: PlatformPartsOptions<Release>): ClusterParts => ({
  checkEngine: async (id, signal) => {
    // The settings may have changed a moment before, such as its domain.
    await refresh(signal)
    await engineOf({ engine: await engineOfCluster(database, id) }).ping(signal)
  },
  listFindings: async (id, signal) => {
    const place = { engine: await engineOfCluster(database, id) }
    const tls = await tlsOfCluster(database, id)
    const lists = [engineOf(place).listFindings(signal), routerOf(place).listFindings(signal, tls)]
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
  stopEnvironment: (id, by, signal) =>
    untilDone(database, clock, signal, {
      id,
      done: 'stopped',
      isOpen: () => hasRunningService(database, id),
      ask: (row) => environments.stop(row, { ...by, origin: 'QOVERY_INTERNAL' }),
    }),
  removeEnvironment: (id, by, signal) =>
    untilDone(database, clock, signal, {
      id,
      done: 'deleted',
      isOpen: async () => true,
      ask: (row) => environments.remove(row, { ...by, origin: 'QOVERY_INTERNAL' }),
    }),
  eraseAll: async (id, signal) => {
    const place = { engine: await engineOfCluster(database, id) }
    const attempt = { signal, output: silent }
    await patiently(attempt, () => engineOf(place).eraseAll(attempt))
  },
  renewRouter: async (id, signal) => routerOf({ engine: await engineOfCluster(database, id) }).renew(signal),
  publishRoutes: async (id, signal) =>
    void (await publisherOf({ engine: await engineOfCluster(database, id) }).apply(signal)),
})

/** A request of an operation on a cluster for one of its environments. */
interface Asked {
  readonly id: string
  readonly done: 'stopped' | 'deleted'
  /** Whether there is something to do while the environment exists. */
  readonly isOpen: () => Promise<boolean>
  readonly ask: (row: EnvironmentRow) => Promise<void>
}

/**
 * Waits until no request of an environment is open, asks once, and waits for the end of that
 * request. Throws if there is still something to do then.
 */
async function untilDone(
  database: Database,
  clock: Clock,
  signal: AbortSignal,
  { id, done, isOpen, ask }: Asked,
): Promise<void> {
  for (let isAsked = false; ; ) {
    const row = await findEnvironment(database, id)
    if (!row) return
    if (!(await hasOpenRequest(database, id))) {
      if (!(await isOpen())) return
      if (isAsked) throw new Error(`environment "${row.name}" was not ${done}; read its last deployment`)
      await ask(row)
      isAsked = true
    }
    await clock.sleep(500, signal)
  }
}

/** Images that cannot be published keep every deployment from starting. */
async function publishFindings(builder: ReachedBuilder, signal: AbortSignal): Promise<ClusterFinding[]> {
  const message = await builder.publishProblem?.(signal)
  return message === undefined ? [] : [{ message, isBlocking: true }]
}

/** Adds the cluster of this machine to a new organization. */
export const addBuiltInCluster = (sql: Sql, organizationId: string, now: Date): Promise<void> =>
  insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })

/** Returns what adds clusters to a new organization. Without a Docker Engine it gets none. */
export const clusterEndowments = ({ dockerSocket }: { readonly dockerSocket: string | undefined }) =>
  dockerSocket === undefined ? [] : [addBuiltInCluster]

/**
 * Returns the id of an organization's cluster, or of its default one if none is named. Undefined if
 * it has no cluster of that id. Throws 400 if none is named and it has no default one.
 */
export async function findClusterId(sql: Sql, organizationId: string, id: string | undefined) {
  const found = await findCluster(sql, organizationId, id)
  if (!found && id === undefined) {
    throw new AppError('invalid', 'The organization has no default cluster. Name one of its clusters, or connect one.')
  }
  if (found && (found.status === 'DELETE_QUEUED' || found.status === 'DELETING')) {
    throw new AppError('conflict', `Cluster "${found.name}" is being deleted. Choose another one.`)
  }
  return found?.id
}
