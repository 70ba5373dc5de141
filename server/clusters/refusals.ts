import type { ClusterRow } from './cluster-store.ts'

/** Statuses of a cluster with an operation in progress. */
export const passingStatuses = ['DEPLOYMENT_QUEUED', 'DEPLOYING', 'DRY_RUN'] as const

export const lockedMessage = ({ name, lock_owner_name, lock_reason }: ClusterRow): string =>
  `Cluster "${name}" is locked by ${lock_owner_name}: ${lock_reason}`

/** Undefined if no operation is in progress. */
export const passingMessage = ({ name, status }: ClusterRow): string | undefined =>
  passingStatuses.some((one) => one === status)
    ? `Cluster "${name}" is ${status}: another operation is in progress. Try again when it has ended.`
    : undefined

/** Returns why nothing can be deployed to a cluster. Undefined for one with an engine. */
export const engineMessage = ({ name, engine }: Pick<ClusterRow, 'name' | 'engine'>): string | undefined =>
  engine === null
    ? `Cluster "${name}" is a record: no engine of this installation runs workloads on it. Use the built-in cluster.`
    : undefined
