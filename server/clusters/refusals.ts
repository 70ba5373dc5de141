import type { ClusterRow } from './cluster-store.ts'

/** Statuses of a cluster that something is under way for. */
export const passingStatuses = ['DEPLOYMENT_QUEUED', 'DEPLOYING', 'DRY_RUN'] as const

export const lockedMessage = ({ name, lock_owner_name, lock_reason }: ClusterRow): string =>
  `Cluster "${name}" is locked by ${lock_owner_name}: ${lock_reason}`

/** Undefined where nothing is under way. */
export const passingMessage = ({ name, status }: ClusterRow): string | undefined =>
  passingStatuses.some((one) => one === status)
    ? `Cluster "${name}" is ${status}: another operation holds it. Try again when that has ended.`
    : undefined

/** Why nothing can be deployed to a cluster from here; undefined for one that has an engine. */
export const engineMessage = ({ name, engine }: Pick<ClusterRow, 'name' | 'engine'>): string | undefined =>
  engine === null
    ? `Cluster "${name}" is a record: no engine of this installation runs anything on it. Use the built-in cluster.`
    : undefined
