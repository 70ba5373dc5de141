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
  /** More than that is not kept. */
  budget_bytes: bytes,
  parts: Type.Array(
    Type.Object({
      name: Enum(['IMAGES', 'BUILD_CACHE', 'VOLUMES', 'LOGS']),
      count: Type.Integer({ minimum: 0, description: 'how many there are; 0 for caches' }),
      bytes,
      freeable_bytes: Type.Integer({ minimum: 0, description: 'what would be removed when there is too much' }),
    }),
  ),
  organization: Type.Object(
    {
      measured_at: Nullable(Timestamp),
      bytes: Type.Integer({ minimum: 0, description: 'the sum of the parts' }),
      claimed_bytes: Type.Integer({
        minimum: 0,
        description:
          'the same sum if each volume took its declared size at least; a storage beyond the limit is refused by it',
      }),
      limit_bytes: Nullable(
        Type.Integer({
          minimum: 0,
          description: 'builds, fetches, storages, backups and pushes are refused beyond it; null: no limit',
        }),
      ),
      parts: Type.Array(
        Type.Object({ name: Enum(['VOLUMES', 'LAYERS', 'IMAGES', 'BACKUPS', 'REPOSITORIES', 'LOGS']), bytes }),
      ),
    },
    { description: 'what this organization takes, and may take' },
  ),
})

const tag = 'Cluster'
const inOrganization = '/organization/{organizationId}/cluster/{clusterId}'
const yaml = 'application/x-yaml'
const read = { method: 'GET', target: 'organization', access: 'read', tag, status: 200 } as const
const admin = { target: 'organization', access: 'admin', tag } as const
const settings = settingsReply(clusterSettings)

/** What hangs on a cluster beside its record. */
export const clusterPartOperations = {
  getInstallationHelmValues: operation({
    ...read,
    path: `${inOrganization}/installationHelmValues`,
    handler: 'getInstallationHelmValues',
    summary: 'What a chart on that cluster would have to know of it, as YAML.',
    reply: word,
    contentType: yaml,
  }),
  getClusterKubeconfig: operation({
    ...read,
    access: 'admin',
    path: `${inOrganization}/kubeconfig`,
    handler: 'getKubeconfig',
    summary: 'The kubeconfig that was handed in, as it was. 400 for a cluster that is not Kubernetes.',
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
    summary: 'Keeps a kubeconfig, sealed. 400 unless it is one.',
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
    summary: 'Every advanced setting of clusters with its default.',
    reply: settings,
  }),
  getClusterAdvancedSettings: operation({
    ...read,
    path: `${inOrganization}/advancedSettings`,
    handler: 'getClusterSettings',
    summary: 'The advanced settings of a cluster: what was sent, and defaults for the rest.',
    reply: settings,
  }),
  editClusterAdvancedSettings: operation({
    ...admin,
    method: 'PUT',
    path: `${inOrganization}/advancedSettings`,
    handler: 'editClusterSettings',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'ADVANCED_SETTINGS' },
    summary:
      'Replaces all: a key that is left out has its default again. 400 for a value that would not act there, unless it is the default or already stored.',
    body: settingsRequest(clusterSettings),
    reply: settings,
    status: 201,
  }),
  getRoutingTable: operation({
    ...read,
    path: `${inOrganization}/routingTable`,
    handler: 'getRoutingTable',
    summary: 'The routes of the network of a cluster.',
    reply: RoutingTable,
  }),
  editRoutingTable: operation({
    ...admin,
    method: 'PUT',
    path: `${inOrganization}/routingTable`,
    handler: 'editRoutingTable',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'CLUSTER_ROUTING_TABLE' },
    summary: 'Replaces them.',
    body: Type.Object({ routes: List(Route, 500) }),
    reply: RoutingTable,
    status: 201,
  }),
  listClusterLogs: operation({
    ...read,
    path: `${inOrganization}/logs`,
    handler: 'listClusterLogs',
    summary: 'What its last deployments and upgrades did, at most 1,000 lines, oldest first.',
    reply: Results(ClusterLog),
  }),
  deployCluster: operation({
    ...admin,
    method: 'POST',
    path: `${inOrganization}/deploy`,
    handler: 'deployCluster',
    event: { type: 'TRIGGER_DEPLOY', target: 'CLUSTER' },
    summary: 'Brings the parts of the platform on that cluster up to date; a dry run only looks whether it could.',
    query: Type.Object({ dry_run: Type.Optional(Type.Boolean()) }),
    reply: ClusterStatus,
    // The public API says 201; its command line takes nothing but 200 for a success.
    status: 200,
  }),
  StopCluster: operation({
    ...admin,
    method: 'POST',
    path: `${inOrganization}/stop`,
    handler: 'stopCluster',
    event: { type: 'TRIGGER_STOP', target: 'CLUSTER' },
    summary: 'Answers 409: the built-in cluster is this machine, others were never started from here.',
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
      'What images, build caches, volumes and logs of the platform take on the disk of a cluster that runs something, and what nothing needs of it; what the organization takes of it, and its limit.',
    reply: DiskUsage,
  }),
  'list-cluster-lock': operation({
    ...read,
    path: '/organization/{organizationId}/lock',
    handler: 'listClusterLocks',
    summary: 'The locks that hold now.',
    reply: Results(ClusterLock),
  }),
} as const
