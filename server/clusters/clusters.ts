import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type ClusterRow, findCluster, listClusters } from './cluster-store.ts'

export function createClusters({ database }: { database: Database }) {
  return {
    async list(organizationId: string) {
      return (await listClusters(database, organizationId)).map(clusterRecord)
    },
    async statuses(organizationId: string) {
      return (await listClusters(database, organizationId)).map(clusterStatus)
    },
    async status(organizationId: string, id: string) {
      const row = await findCluster(database, organizationId, id)
      if (!row) throw new AppError('notFound', 'There is no such object.')
      return clusterStatus(row)
    },
  }
}

const clusterRecord = (row: ClusterRow) => ({
  ...row,
  organization: { id: row.organization_id },
  has_access: true,
  min_running_nodes: 1,
  max_running_nodes: 1,
  deployment_status: 'UP_TO_DATE' as const,
  features: [],
})

const clusterStatus = (row: ClusterRow) => ({
  cluster_id: row.id,
  status: row.status,
  is_deployed: row.status === 'DEPLOYED',
  next_k8s_available_version: null,
  last_execution_id: null,
  cluster_lock: null,
  last_deployment_date: row.last_deployment_date,
  reason: 'UNSPECIFIED' as const,
})
