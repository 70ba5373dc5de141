import { operation } from '../operation.ts'
import { Enum, Integer, NoBody, Nullable, Results, Text, Timestamp, Type } from '../schema.ts'
import { ClusterLock, ClusterStatus } from './cluster.ts'

const word = Type.String()
const dnsProviders = ['QOVERY', 'CLOUDFLARE', 'ROUTE53'] as const
/** The required fields depend on `provider`. The handler checks them. */
const DnsProviderRequest = Type.Object({
  dns_provider: Type.Object({
    provider: Enum(dnsProviders),
    domain: Text(253, 1),
    email: Type.Optional(Text(320, 3)),
    api_token: Type.Optional(Text(1024, 1)),
    proxied: Type.Optional(Type.Boolean()),
    credentials: Type.Optional(
      Type.Object({
        type: Enum(['STATIC']),
        aws_access_key_id: Text(255, 1),
        aws_secret_access_key: Type.Optional(Text(1024, 1)),
      }),
    ),
    aws_region: Type.Optional(Text(63, 1)),
    hosted_zone_id: Type.Optional(Nullable(Text(100))),
  }),
})
const DnsProvider = Type.Object({
  dns_provider: Type.Object({
    provider: Enum(dnsProviders),
    domain: word,
    email: Type.Optional(word),
    proxied: Type.Optional(Type.Boolean()),
    credentials: Type.Optional(Type.Object({ type: Enum(['STATIC']), aws_access_key_id: word })),
    aws_region: Type.Optional(word),
    hosted_zone_id: Type.Optional(Nullable(word)),
  }),
})

const read = { method: 'GET', access: 'read', tag: 'Cluster', status: 200 } as const
const path = '/cluster/{clusterId}'
const onCluster = { ...read, target: 'cluster' } as const
const Moment = Text(64, 1)
const Question = Text(8000, 1)
const may = <const N extends string>(...names: readonly N[]) =>
  Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Text(255, 1))])))

/** The operations whose path begins with the cluster. */
export const clusterActionOperations = {
  upgradeCluster: operation({
    ...onCluster,
    method: 'POST',
    path: `${path}/upgrade`,
    handler: 'upgradeCluster',
    access: 'admin',
    event: { type: 'MAINTENANCE', target: 'CLUSTER' },
    summary:
      'Brings everything of the platform on a cluster to the current version: each environment with its running ' +
      'services, the router and the routes. Its log says what changed. 409 if the cluster is locked or in use.',
    reply: ClusterStatus,
    status: 201,
  }),
  lockCluster: operation({
    ...onCluster,
    method: 'POST',
    path: `${path}/lock`,
    handler: 'lockCluster',
    access: 'admin',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'CONFIG' },
    summary:
      'Locks a cluster. It cannot be deployed, upgraded, edited or deleted until the lock is removed or expires.',
    body: Type.Object({ reason: Text(1000, 1), ttl_in_days: Type.Optional(Nullable(Integer(1, 365))) }),
    reply: ClusterLock,
  }),
  'unlock-cluster': operation({
    ...onCluster,
    method: 'DELETE',
    path: `${path}/lock`,
    handler: 'unlockCluster',
    access: 'admin',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'CONFIG' },
    summary: 'Unlocks a cluster. Succeeds if it is not locked.',
    reply: NoBody,
    status: 204,
  }),
  getClusterDnsProvider: operation({
    ...onCluster,
    path: `${path}/dnsProvider`,
    handler: 'getDnsProvider',
    summary: 'Returns the domain and DNS provider for the services of a cluster, without secrets.',
    reply: DnsProvider,
  }),
  editClusterDnsProvider: operation({
    ...onCluster,
    method: 'PUT',
    path: `${path}/dnsProvider`,
    handler: 'setDnsProvider',
    access: 'admin',
    event: { type: 'UPDATE', target: 'CLUSTER', sub: 'DNS_PROVIDER' },
    summary: 'Replaces the DNS provider of a cluster. 400 for a different one on the built-in cluster.',
    body: DnsProviderRequest,
    reply: DnsProvider,
  }),
  'get-environments-by-cluster-id': operation({
    ...onCluster,
    path: `${path}/environments`,
    handler: 'listClusterEnvironments',
    summary: 'Lists the environments of a cluster with their services.',
    reply: Results(
      Type.Object({
        environment_id: word,
        environment_name: word,
        project_id: word,
        project_name: word,
        services: Type.Array(
          Type.Object({
            id: word,
            name: word,
            type: Enum(['APPLICATION', 'CONTAINER', 'DATABASE', 'JOB', 'HELM', 'TERRAFORM']),
          }),
        ),
      }),
    ),
  }),
  getArgoCdAssociatedServices: operation({
    ...onCluster,
    path: `${path}/argocdApps/associatedServices`,
    handler: 'listNothing',
    summary: 'Lists the Argo CD applications of a cluster. Always empty: Argo CD is not connected.',
    reply: Results(Type.Object({ id: word })),
  }),
  'get-cluster-kubernetes-events': operation({
    ...onCluster,
    path: `${path}/events`,
    handler: 'refuse',
    refuses: 'This platform does not read the events of clusters. Read the log of a service instead.',
    summary: 'Lists Kubernetes events.',
    query: Type.Object({
      from_date_time: Moment,
      to_date_time: Moment,
      ...may('node_name', 'pod_name', 'reporting_component').properties,
    }),
    reply: Results(Type.Object({ created_at: Timestamp })),
  }),
  'get-cluster-metrics': operation({
    ...onCluster,
    path: `${path}/metrics`,
    handler: 'refuse',
    refuses: 'Prometheus is not connected to this platform, so it has no metrics.',
    summary: 'Queries Prometheus.',
    query: Type.Object({
      endpoint: Text(255, 1),
      query: Question,
      ...may(
        'start',
        'end',
        'step',
        'time',
        'timeout',
        'dedup',
        'partial_response',
        'max_source_resolution',
        'engine',
        'analyze',
        'board_short_name',
        'metric_short_name',
        'trace_id',
        'range',
      ).properties,
    }),
    reply: Type.Object({ metrics: word }),
  }),
  'get-cluster-logs': operation({
    ...onCluster,
    path: `${path}/logs`,
    handler: 'refuse',
    refuses: 'Loki is not connected to this platform. Read the log of a service instead.',
    summary: 'Queries Loki.',
    query: Type.Object({
      endpoint: Text(255, 1),
      query: Question,
      ...may('start', 'end', 'limit', 'since', 'step', 'interval', 'direction', 'time').properties,
    }),
    reply: Type.Object({ response: word }),
  }),
  'get-cluster-token-by-clusterId': operation({
    ...onCluster,
    path: `${path}/token`,
    handler: 'refuse',
    access: 'admin',
    refuses: 'This platform hands out no tokens of clusters. Use the kubeconfig that was stored for the cluster.',
    summary: 'Returns a token for the Kubernetes API server.',
    query: Type.Object({ read_only: Type.Optional(Type.Boolean()) }),
    reply: Type.Object({
      apiVersion: word,
      kind: word,
      spec: Type.Object({}),
      status: Type.Object({ token: word, expirationTimestamp: Timestamp }),
    }),
  }),
} as const
