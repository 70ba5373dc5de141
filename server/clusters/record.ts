import type { ClusterRow } from './cluster-store.ts'
import { featureRecord, findFeature } from './features.ts'
import { defaultSettings, providerOf } from './settings.ts'

/** The capacity of a cluster: thousandths of a core, MiB. */
export interface Capacity {
  readonly cpu: number
  readonly memory: number
}

/** Returns the row in API format. */
export function clusterRecord(row: ClusterRow, ceilingOf: (engine: string) => Capacity) {
  const { settings, labels_groups, ...columns } = row
  const all = { ...defaultSettings, ...settings }
  const { cpu, memory } = row.engine === null ? { cpu: 0, memory: 0 } : ceilingOf(row.engine)
  const provider = providerOf(row.cloud_provider)
  return {
    ...columns,
    ...all,
    organization: { id: row.organization_id },
    has_access: true,
    cpu,
    memory,
    estimated_cloud_provider_cost: 0,
    version: row.platform_version,
    deployment_status: deploymentStatus(row),
    features: all.features.flatMap((given) => {
      const feature = provider && findFeature(provider, given.id)
      return provider && feature ? [featureRecord(provider, feature, given)] : []
    }),
    labels_groups: labels_groups.map((id) => ({ id })),
    secret_manager_accesses: [],
  }
}

function deploymentStatus({ config_version, deployed_config_version: deployed }: ClusterRow) {
  if (deployed === null) return 'NEVER_DEPLOYED' as const
  return deployed === config_version ? ('UP_TO_DATE' as const) : ('OUT_OF_DATE' as const)
}

/** The time of its last operation. Null before the first one. */
export const executionId = (clusterId: string, number: number): string | null =>
  number === 0 ? null : `${clusterId}-${number}`

export const clusterStatus = (row: ClusterRow) => ({
  cluster_id: row.id,
  status: row.status,
  is_deployed: row.last_deployment_date !== null,
  next_k8s_available_version: null,
  last_execution_id: executionId(row.id, row.operation_number),
  cluster_lock: lockRecord(row),
  last_deployment_date: row.last_deployment_date,
  reason: 'UNSPECIFIED' as const,
})

export function lockRecord(row: ClusterRow) {
  const { lock_reason: reason, lock_locked_at: locked_at, lock_ttl_in_days: ttl_in_days } = row
  if (reason === null || locked_at === null) return null
  return { cluster_id: row.id, reason, ttl_in_days, locked_at, owner_name: row.lock_owner_name ?? '' }
}
