import { clusterStates, deploymentStatuses } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, Nullable, Ref, Results, Timestamp, Type, Uuid } from '../schema.ts'

export const Cluster = Type.Object({
  ...base,
  organization: Ref,
  name: Type.String(),
  description: Type.String(),
  region: Type.String(),
  cloud_provider: Type.String(),
  kubernetes: Type.String(),
  status: Enum(clusterStates),
  has_access: Type.Boolean(),
  is_default: Type.Boolean(),
  is_demo: Type.Boolean(),
  production: Type.Boolean(),
  min_running_nodes: Type.Integer(),
  max_running_nodes: Type.Integer(),
  deployment_status: Enum(deploymentStatuses),
  features: Type.Array(Type.Object({})),
})

export const ClusterStatus = Type.Object({
  cluster_id: Uuid,
  status: Enum(clusterStates),
  is_deployed: Type.Boolean(),
  next_k8s_available_version: Nullable(Type.String()),
  last_execution_id: Nullable(Type.String()),
  cluster_lock: Type.Null(),
  last_deployment_date: Nullable(Timestamp),
  reason: Enum(['UNSPECIFIED', 'MAINTENANCE']),
})

const tag = 'Cluster'
const path = '/organization/{organizationId}/cluster'
const read = { method: 'GET', target: 'organization', access: 'read', tag, status: 200 } as const

export const clusterOperations = {
  listOrganizationCluster: operation({
    ...read,
    path,
    handler: 'listClusters',
    summary: 'The clusters of an organization.',
    reply: Results(Cluster),
  }),
  getOrganizationClusterStatus: operation({
    ...read,
    path: `${path}/status`,
    handler: 'listClusterStatuses',
    summary: 'The status of each cluster.',
    reply: Results(ClusterStatus),
  }),
  getClusterStatus: operation({
    ...read,
    path: `${path}/{clusterId}/status`,
    handler: 'getClusterStatus',
    summary: 'The status of one cluster.',
    reply: ClusterStatus,
  }),
} as const
