import type { ClusterRow } from './cluster-store.ts'
import { clusterOfEngine } from './engine-name.ts'
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
  const { cpu, memory } = capacityOf(row, ceilingOf)
  const provider = providerOf(row.cloud_provider)
  return {
    ...columns,
    ...all,
    status: shownStatus(row),
    organization: { id: row.organization_id },
    has_access: true,
    cpu,
    memory,
    estimated_cloud_provider_cost: 0,
    version: row.kubernetes_version ?? row.platform_version,
    deployment_status: deploymentStatus(row),
    features: all.features.flatMap((given) => {
      const feature = provider && findFeature(provider, given.id)
      return provider && feature ? [featureRecord(provider, feature, given)] : []
    }),
    labels_groups: labels_groups.map((id) => ({ id })),
    secret_manager_accesses: [],
  }
}

/** A connected cluster has what all of its nodes have. */
function capacityOf(row: ClusterRow, ceilingOf: (engine: string) => Capacity): Capacity {
  const { engine, cpu_milli, memory_mib } = row
  if (cpu_milli !== null && memory_mib !== null) return { cpu: cpu_milli, memory: memory_mib }
  return engine === null || clusterOfEngine(engine) !== undefined ? { cpu: 0, memory: 0 } : ceilingOf(engine)
}

/** A cluster that no longer accepts the platform says so, and returns to its status by itself. */
function shownStatus({ status, health_state }: ClusterRow) {
  const isSettled = status === 'DEPLOYED' || status === 'DEPLOYMENT_ERROR'
  return isSettled && health_state === 'REFUSED' ? ('INVALID_CREDENTIALS' as const) : status
}

/** Whether services can be deployed to a cluster now. */
export const isReady = ({ engine, status, health_state }: ClusterRow): boolean =>
  engine !== null && status === 'DEPLOYED' && (health_state === null || health_state === 'REACHABLE')

function healthRecord(row: ClusterRow) {
  const { health_state: state, health_since: since, health_reason: reason } = row
  if (state === null || since === null) return null
  const { kubernetes_version, node_count, cpu_milli: cpu, memory_mib: memory } = row
  return { state, since, reason, kubernetes_version, node_count, cpu, memory }
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
  status: shownStatus(row),
  is_deployed: row.last_deployment_date !== null,
  next_k8s_available_version: null,
  last_execution_id: executionId(row.id, row.operation_number),
  cluster_lock: lockRecord(row),
  last_deployment_date: row.last_deployment_date,
  reason: 'UNSPECIFIED' as const,
  health: healthRecord(row),
})

export function lockRecord(row: ClusterRow) {
  const { lock_reason: reason, lock_locked_at: locked_at, lock_ttl_in_days: ttl_in_days } = row
  if (reason === null || locked_at === null) return null
  return { cluster_id: row.id, reason, ttl_in_days, locked_at, owner_name: row.lock_owner_name ?? '' }
}
