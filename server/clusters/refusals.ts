import { passingClusterStates } from '@quayside/contract/states.ts'
import type { ClusterRow } from './cluster-store.ts'
import { isBuiltIn, reachingEngine } from './engine-name.ts'

/** What a deletion removes, besides the record. */
export type DeleteMode = 'DEFAULT' | 'DELETE_CLUSTER_AND_QOVERY_CONFIG' | 'DELETE_QOVERY_CONFIG'

export const lockedMessage = ({ name, lock_owner_name, lock_reason }: ClusterRow): string =>
  `Cluster "${name}" is locked by ${lock_owner_name}: ${lock_reason}`

/** Undefined if no operation is in progress. */
export const passingMessage = ({ name, status }: ClusterRow): string | undefined =>
  passingClusterStates.some((one) => one === status)
    ? `Cluster "${name}" is ${status}: another operation is in progress. Try again when it has ended.`
    : undefined

/** Returns why a cluster itself cannot be deployed. Undefined for one that an engine reaches. */
export const engineMessage = (row: ClusterRow): string | undefined =>
  reachingEngine(row) === null
    ? `Cluster "${row.name}" is a record: no engine of this installation runs workloads on it. PUT its kubeconfig, ` +
      'or use the built-in cluster.'
    : undefined

/** Returns why a cluster cannot be deleted in this mode. Undefined if it can. */
export function removalRefusal(row: ClusterRow, environments: number, mode: DeleteMode): string | undefined {
  if (isBuiltIn(row)) return `Cluster "${row.name}" is built in: it is the machine that this platform runs on.`
  if (row.lock_reason !== null) return lockedMessage(row)
  const passing = passingMessage(row)
  if (passing || environments === 0 || mode !== 'DEFAULT') return passing
  const some =
    environments === 1 ? 'an environment; delete it first' : `${environments} environments; delete them first`
  return (
    `Cluster "${row.name}" has ${some}. Or set deleteMode: DELETE_CLUSTER_AND_QOVERY_CONFIG deletes environments ` +
    'with their data, DELETE_QOVERY_CONFIG deletes their records and leaves everything on the cluster.'
  )
}
