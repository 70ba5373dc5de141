import type { ClusterRow } from './cluster-store.ts'
import { reachingEngine } from './engine-name.ts'

/** Statuses of a cluster with an operation in progress. */
export const passingStatuses = ['DEPLOYMENT_QUEUED', 'DEPLOYING', 'DRY_RUN'] as const

export const lockedMessage = ({ name, lock_owner_name, lock_reason }: ClusterRow): string =>
  `Cluster "${name}" is locked by ${lock_owner_name}: ${lock_reason}`

/** Undefined if no operation is in progress. */
export const passingMessage = ({ name, status }: ClusterRow): string | undefined =>
  passingStatuses.some((one) => one === status)
    ? `Cluster "${name}" is ${status}: another operation is in progress. Try again when it has ended.`
    : undefined

/** Returns why a cluster itself cannot be deployed. Undefined for one that an engine reaches. */
export const engineMessage = (row: ClusterRow): string | undefined =>
  reachingEngine(row) === null
    ? `Cluster "${row.name}" is a record: no engine of this installation runs workloads on it. PUT its kubeconfig, ` +
      'or use the built-in cluster.'
    : undefined
