import { clusterStates, deploymentStatuses } from '../enums.ts'
import { operation } from '../operation.ts'
import { cloudProviders, cloudVendors } from '../providers.ts'
import {
  base,
  Enum,
  extension,
  Integer,
  List,
  NoBody,
  Nullable,
  Ref,
  Results,
  Text,
  Timestamp,
  type TSchema,
  Type,
  Uuid,
} from '../schema.ts'
import { ClusterFeature } from './catalogue.ts'

export const kubernetesModes = ['MANAGED', 'SELF_MANAGED', 'PARTIALLY_MANAGED'] as const
export type KubernetesMode = (typeof kubernetesModes)[number]

/** An object that only clients interpret. It is stored and returned unchanged. */
const FreeRequest = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' })
const FreeReply = Type.Object({}, { additionalProperties: true })

export const Cluster = Type.Object({
  ...base,
  organization: Ref,
  name: Type.String(),
  description: Type.String(),
  region: Type.String(),
  cloud_provider: Enum(cloudVendors),
  min_running_nodes: Type.Integer(),
  max_running_nodes: Type.Integer(),
  disk_size: Type.Integer({ description: 'GB' }),
  disk_iops: Type.Optional(Type.Integer()),
  disk_throughput: Type.Optional(Type.Integer()),
  instance_type: Type.String(),
  kubernetes: Enum(kubernetesModes),
  cpu: Type.Integer({ description: 'thousandths of a core; 0 if unknown' }),
  memory: Type.Integer({ description: 'MiB; 0 if unknown' }),
  estimated_cloud_provider_cost: Type.Integer(),
  status: Enum(clusterStates),
  has_access: Type.Boolean(),
  version: Type.String(),
  is_default: Type.Boolean(),
  is_demo: Type.Boolean(),
  production: Type.Boolean(),
  ssh_keys: Type.Array(Type.String()),
  features: Type.Array(ClusterFeature),
  deployment_status: Enum(deploymentStatuses),
  metrics_parameters: Type.Optional(FreeReply),
  infrastructure_charts_parameters: Type.Optional(FreeReply),
  keda: Type.Object({ enabled: Type.Boolean() }),
  labels_groups: Type.Array(Ref),
  secret_manager_accesses: Type.Array(Type.Object({ id: Uuid })),
})

const optional = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema))
const FeatureValue = Type.Union([Text(2000), Type.Boolean(), FreeRequest, Type.Null()])

/** The provider, region and credentials of a cluster. */
const cloudProviderInfo = {
  cloud_provider: optional(Enum(cloudProviders)),
  credentials: optional(Type.Object({ id: Type.Optional(Uuid), name: optional(Text(255)) })),
  region: optional(Text(100, 1)),
}
export const CloudProviderInfoRequest = Type.Object(cloudProviderInfo)
export const CloudProviderInfo = Type.Object({
  cloud_provider: Enum(cloudVendors),
  credentials: Nullable(Type.Object({ id: Uuid, name: Type.String() })),
  region: Type.String(),
})

const details = {
  description: optional(Text(1000)),
  cloud_provider_credentials: optional(CloudProviderInfoRequest),
  min_running_nodes: Type.Optional(Integer(1, 10_000)),
  max_running_nodes: Type.Optional(Integer(1, 10_000)),
  /** GB */
  disk_size: Type.Optional(Integer(1, 65_536)),
  disk_iops: optional(Integer(3000, 16_000)),
  disk_throughput: optional(Integer(125, 1000)),
  instance_type: optional(Text(100)),
  kubernetes: Type.Optional(Enum(kubernetesModes)),
  production: optional(Type.Boolean()),
  ssh_keys: optional(List(Text(16_384, 1), 100)),
  features: optional(List(Type.Object({ id: Text(64, 1), value: Type.Optional(FeatureValue) }), 50)),
  metrics_parameters: optional(FreeRequest),
  infrastructure_charts_parameters: optional(FreeRequest),
  keda: optional(Type.Object({ enabled: Type.Boolean() })),
  labels_groups: optional(List(Ref, 100)),
  secret_manager_accesses: optional(List(FreeRequest, 100)),
}
const named = { name: Text(255, 1), region: Text(100, 1), cloud_provider: Enum(cloudVendors) }
export const ClusterRequest = Type.Object({ ...named, ...details })
export const ClusterEdit = Type.Object({ ...Type.Partial(Type.Object(named)).properties, ...details })

export const ClusterLock = Type.Object({
  cluster_id: Uuid,
  reason: Type.String(),
  ttl_in_days: Nullable(Type.Integer()),
  locked_at: Timestamp,
  owner_name: Type.String(),
})

/** What a connected cluster last reported. It is asked every fifteen seconds. */
const ClusterHealth = Type.Object({
  state: Enum(['REACHABLE', 'UNREACHABLE', 'REFUSED']),
  since: Timestamp,
  reason: Nullable(Type.String()),
  kubernetes_version: Nullable(Type.String()),
  node_count: Nullable(Type.Integer()),
  cpu: Nullable(Type.Integer({ description: 'thousandths of a core, of all nodes' })),
  memory: Nullable(Type.Integer({ description: 'MiB, of all nodes' })),
})

export const ClusterStatus = Type.Object({
  cluster_id: Uuid,
  status: Enum(clusterStates),
  is_deployed: Type.Boolean(),
  next_k8s_available_version: Nullable(Type.String()),
  last_execution_id: Nullable(Type.String()),
  cluster_lock: Nullable(ClusterLock),
  last_deployment_date: Nullable(Timestamp),
  reason: Enum(['UNSPECIFIED', 'MAINTENANCE']),
  /** Null for a cluster that was not asked yet, or that has no engine of its own. */
  health: extension(Nullable(ClusterHealth)),
})

const tag = 'Cluster'
const path = '/organization/{organizationId}/cluster'
const one = `${path}/{clusterId}` as const
const read = { method: 'GET', target: 'organization', access: 'read', tag, status: 200 } as const
const admin = { target: 'organization', access: 'admin', tag } as const

export const clusterOperations = {
  listOrganizationCluster: operation({
    ...read,
    path,
    handler: 'listClusters',
    summary: 'Lists the clusters of an organization.',
    reply: Results(Cluster),
  }),
  createCluster: operation({
    ...admin,
    method: 'POST',
    path,
    handler: 'createCluster',
    event: { type: 'CREATE', target: 'CLUSTER' },
    summary:
      'Creates the record of a cluster. Nothing is created on a cloud, and nothing can be deployed to it from here.',
    body: ClusterRequest,
    reply: Cluster,
    status: 201,
  }),
  editCluster: operation({
    ...admin,
    method: 'PUT',
    path: one,
    handler: 'editCluster',
    event: { type: 'UPDATE', target: 'CLUSTER' },
    summary:
      'Changes the fields of a cluster that the body names. Null clears a field. Provider and kind of ' +
      'Kubernetes cannot change.',
    body: ClusterEdit,
    reply: Cluster,
    status: 200,
  }),
  deleteCluster: operation({
    ...admin,
    method: 'DELETE',
    path: one,
    handler: 'deleteCluster',
    event: { type: 'DELETE', target: 'CLUSTER' },
    summary:
      'Deletes a cluster. 409 for the built-in one, if it is locked or in use, and in the mode DEFAULT if it has ' +
      'environments. DEFAULT and DELETE_CLUSTER_AND_QOVERY_CONFIG remove what the platform created on it; the latter ' +
      'also deletes its environments with their data. DELETE_QOVERY_CONFIG deletes the records of cluster and ' +
      'environments and leaves everything on the cluster, so it also works for one that is gone. skipReconcile ' +
      'touches nothing on the cluster in any mode.',
    query: Type.Object({
      deleteMode: Type.Optional(Enum(['DEFAULT', 'DELETE_CLUSTER_AND_QOVERY_CONFIG', 'DELETE_QOVERY_CONFIG'])),
      skipReconcile: Type.Optional(Type.Boolean()),
    }),
    reply: NoBody,
    status: 204,
  }),
  getOrganizationClusterStatus: operation({
    ...read,
    path: `${path}/status`,
    handler: 'listClusterStatuses',
    summary: 'Lists the status of each cluster of an organization.',
    reply: Results(ClusterStatus),
  }),
  getClusterStatus: operation({
    ...read,
    path: `${one}/status`,
    handler: 'getClusterStatus',
    summary: 'Returns the status of a cluster.',
    reply: ClusterStatus,
  }),
  getClusterReadinessStatus: operation({
    ...read,
    path: `${one}/isReady`,
    handler: 'getClusterReadiness',
    summary: 'Returns whether services can be deployed to a cluster.',
    reply: Type.Object({ is_ready: Type.Boolean() }),
  }),
  getOrganizationCloudProviderInfo: operation({
    ...read,
    path: `${one}/cloudProviderInfo`,
    handler: 'getCloudProviderInfo',
    summary: 'Returns the provider, region and credentials of a cluster.',
    reply: CloudProviderInfo,
  }),
  specifyClusterCloudProviderInfo: operation({
    ...admin,
    method: 'POST',
    path: `${one}/cloudProviderInfo`,
    handler: 'setCloudProviderInfo',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'CLUSTER_CREDENTIALS' },
    summary: 'Sets the credentials of a cluster. Null removes them.',
    body: CloudProviderInfoRequest,
    reply: CloudProviderInfo,
    status: 201,
  }),
} as const
