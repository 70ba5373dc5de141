import { operation } from '../operation.ts'
import { Enum, List, NoBody, Nullable, Results, Text, Timestamp, Type } from '../schema.ts'
import { clusterSettings } from '../services/cluster-settings.ts'
import { settingsReply, settingsRequest } from '../services/setting-table.ts'
import { ClusterLock, ClusterStatus } from './cluster.ts'

const Route = Type.Object({ destination: Text(100, 1), target: Text(255, 1), description: Text(1000) })
const RoutingTable = Results(Route)
const word = Type.String()
const logSteps = [
  'LoadConfiguration',
  'Create',
  'Created',
  'CreateError',
  'Pause',
  'Paused',
  'PauseError',
  'Delete',
  'Deleted',
  'DeleteError',
  'RetrieveClusterConfig',
  'RetrieveClusterResources',
  'ValidateSystemRequirements',
  'UnderMigration',
  'Unknown',
] as const
export type ClusterLogStep = (typeof logSteps)[number]
const ClusterLog = Type.Object({
  type: word,
  timestamp: Timestamp,
  step: Enum(logSteps),
  message: Nullable(Type.Object({ safe_message: word })),
  error: Type.Optional(Type.Object({ tag: word, user_log_message: word })),
  details: Type.Object({
    provider_kind: word,
    region: word,
    transmitter: Type.Object({ type: word, id: word, name: word }),
  }),
})

const bytes = Type.Integer({ minimum: 0 })
const DiskUsage = Type.Object({
  measured_at: Nullable(Timestamp),
  disk_bytes: bytes,
  disk_free_bytes: bytes,
  /** The largest kubeconfig that is stored. */
  budget_bytes: bytes,
  parts: Type.Array(
    Type.Object({
      name: Enum(['IMAGES', 'BUILD_CACHE', 'VOLUMES', 'LOGS']),
      count: Type.Integer({ minimum: 0, description: 'the number of items; 0 for caches' }),
      bytes,
      freeable_bytes: Type.Integer({ minimum: 0, description: 'bytes that can be freed' }),
    }),
  ),
  organization: Type.Object(
    {
      measured_at: Nullable(Timestamp),
      bytes: Type.Integer({ minimum: 0, description: 'the sum of the parts' }),
      claimed_bytes: Type.Integer({
        minimum: 0,
        description:
          'the sum if each volume used at least its declared size; a new storage is rejected if this would ' +
          'exceed the limit',
      }),
      limit_bytes: Nullable(
        Type.Integer({
          minimum: 0,
          description: 'builds, fetches, storages, backups and pushes are rejected beyond it; null for no limit',
        }),
      ),
      parts: Type.Array(
        Type.Object({ name: Enum(['VOLUMES', 'LAYERS', 'IMAGES', 'BACKUPS', 'REPOSITORIES', 'LOGS']), bytes }),
      ),
    },
    { description: 'the usage and limit of this organization' },
  ),
})

const tag = 'Cluster'
const inOrganization = '/organization/{organizationId}/cluster/{clusterId}'
const yaml = 'application/x-yaml'
const read = { method: 'GET', target: 'organization', access: 'read', tag, status: 200 } as const
const admin = { target: 'organization', access: 'admin', tag } as const
const settings = settingsReply(clusterSettings)

/** Operations on the parts of a cluster besides its record. */
export const clusterPartOperations = {
  getInstallationHelmValues: operation({
    ...read,
    path: `${inOrganization}/installationHelmValues`,
    handler: 'getInstallationHelmValues',
    summary: 'Returns the Helm values that describe a cluster, as YAML.',
    reply: word,
    contentType: yaml,
  }),
  getClusterKubeconfig: operation({
    ...read,
    access: 'admin',
    path: `${inOrganization}/kubeconfig`,
    handler: 'getKubeconfig',
    summary: 'Returns the stored kubeconfig of a cluster unchanged. 400 if the cluster is not Kubernetes.',
    query: Type.Object({
      with_token_from_cli: Type.Optional(Type.Boolean()),
      read_only: Type.Optional(Type.Boolean()),
    }),
    reply: word,
    contentType: yaml,
  }),
  editClusterKubeconfig: operation({
    ...admin,
    method: 'PUT',
    path: `${inOrganization}/kubeconfig`,
    handler: 'setKubeconfig',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'KUBERNETES_CONFIGURATION' },
    summary: 'Stores the kubeconfig of a cluster, encrypted. 400 if it is invalid.',
    body: Text(131_072, 1),
    reply: NoBody,
    contentType: yaml,
    status: 204,
  }),
  getDefaultClusterAdvancedSettings: operation({
    ...read,
    target: 'caller',
    path: '/defaultClusterAdvancedSettings',
    handler: 'getDefaultClusterSettings',
    summary: 'Returns every advanced setting of clusters with its default.',
    reply: settings,
  }),
  getClusterAdvancedSettings: operation({
    ...read,
    path: `${inOrganization}/advancedSettings`,
    handler: 'getClusterSettings',
    summary: 'Returns the advanced settings of a cluster: its stored values, and defaults for the rest.',
    reply: settings,
  }),
  editClusterAdvancedSettings: operation({
    ...admin,
    method: 'PUT',
    path: `${inOrganization}/advancedSettings`,
    handler: 'editClusterSettings',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'ADVANCED_SETTINGS' },
    summary:
      'Replaces all advanced settings of a cluster. Omitted keys return to their defaults. 400 for a value ' +
      'that would have no effect, unless it is the default or already stored.',
    body: settingsRequest(clusterSettings),
    reply: settings,
    status: 201,
  }),
  getRoutingTable: operation({
    ...read,
    path: `${inOrganization}/routingTable`,
    handler: 'getRoutingTable',
    summary: 'Returns the routing table of a cluster.',
    reply: RoutingTable,
  }),
  editRoutingTable: operation({
    ...admin,
    method: 'PUT',
    path: `${inOrganization}/routingTable`,
    handler: 'editRoutingTable',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'CLUSTER_ROUTING_TABLE' },
    summary: 'Replaces the routing table of a cluster.',
    body: Type.Object({ routes: List(Route, 500) }),
    reply: RoutingTable,
    status: 201,
  }),
  listClusterLogs: operation({
    ...read,
    path: `${inOrganization}/logs`,
    handler: 'listClusterLogs',
    summary: 'Lists the log lines of the last deployments and upgrades of a cluster, oldest first, at most 1,000.',
    reply: Results(ClusterLog),
  }),
  deployCluster: operation({
    ...admin,
    method: 'POST',
    path: `${inOrganization}/deploy`,
    handler: 'deployCluster',
    event: { type: 'TRIGGER_DEPLOY', target: 'CLUSTER' },
    summary:
      'Checks a cluster, and brings everything of the platform on it to the current version, as upgradeCluster does. ' +
      'A dry run only checks.',
    query: Type.Object({ dry_run: Type.Optional(Type.Boolean()) }),
    reply: ClusterStatus,
    // The public API documents 201, but its command line accepts only 200.
    status: 200,
  }),
  StopCluster: operation({
    ...admin,
    method: 'POST',
    path: `${inOrganization}/stop`,
    handler: 'stopCluster',
    event: { type: 'TRIGGER_STOP', target: 'CLUSTER' },
    summary:
      'Stops the services of all environments of a cluster. Nothing is deployed there until the cluster is deployed. ' +
      '409 if it is locked, or another operation is in progress.',
    reply: ClusterStatus,
    status: 202,
  }),
  getClusterDiskUsage: operation({
    extension: true,
    ...admin,
    method: 'GET',
    status: 200,
    path: `${inOrganization}/diskUsage`,
    handler: 'getClusterDiskUsage',
    summary:
      'Returns the disk usage of a cluster: images, build caches, volumes and logs, how much of it can be ' +
      'freed, and the usage and limit of the organization.',
    reply: DiskUsage,
  }),
  'list-cluster-lock': operation({
    ...read,
    path: '/organization/{organizationId}/lock',
    handler: 'listClusterLocks',
    summary: 'Lists the active locks of the clusters of an organization.',
    reply: Results(ClusterLock),
  }),
} as const
