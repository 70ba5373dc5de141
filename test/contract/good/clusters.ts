import type { OperationName } from '../../../contract/contract.ts'
import type { ProviderName } from '../../../contract/providers.ts'
import type { Objects } from '../../support/fixture.ts'
import { credentialsBodies } from '../../support/objects/clusters.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

let made = 0
const kubeconfig = `apiVersion: v1
kind: Config
current-context: one
clusters: [{ name: one, cluster: { server: https://kubernetes.example.org:6443 } }]
contexts: [{ name: one, context: { cluster: one, user: me } }]
users: [{ name: me, user: { token: secret } }]
`
const body = {
  name: 'Frankfurt',
  region: 'eu-central-1',
  cloud_provider: 'AWS' as const,
  kubernetes: 'SELF_MANAGED' as const,
  features: [{ id: 'STATIC_IP', value: true }],
}

/** Creates a new cluster, so that no other object interferes. */
async function record({ rooms }: Platform, { organizationId }: Objects): Promise<string> {
  const owner = { id: organizationId, billing_deployment_restriction: null }
  return (await rooms.clusters.create(owner, { ...body, name: `cluster ${++made}` })).id
}
const onRecord: Good['prepare'] = async (platform, objects) => ({ clusterId: await record(platform, objects) })

/** Prepares a cluster as if it were this machine. */
const onEngine: Good['prepare'] = async (platform, objects) => {
  const clusterId = await record(platform, objects)
  await platform.database`update cluster set engine = 'local', status = 'DEPLOYED' where id = ${clusterId}`
  return { clusterId }
}

/** Creates a cluster and sends a request to it; `path` is appended to the cluster's path. */
const after = (prepare: NonNullable<Good['prepare']>, method: string, path: string, sent?: object | string): Good => ({
  prepare: async (platform, objects) => {
    const { clusterId = '' } = (await prepare(platform, objects)) ?? {}
    const first = path.startsWith('/lock') ? '' : `/organization/${objects.organizationId}`
    const url = `${first}/cluster/${clusterId}${path}`
    const answer = await platform.call(platform.a.tokens.ADMIN, method, url, sent)
    if (answer.status >= 300) throw new Error(answer.text)
    return { clusterId }
  },
})
const routes = { routes: [{ destination: '10.1.0.0/16', target: 'pcx-1', description: 'peering' }] }
const lock = { reason: 'The end of the year', ttl_in_days: 3 }

/** Creates credentials that no cluster uses. */
const of = (provider: ProviderName): Good => ({ body: credentialsBodies('hidden')[provider] })

export const clusters: Partial<Record<OperationName, Good>> = {
  createCluster: { body },
  editCluster: { body: { ...body, name: 'Another place', description: null, max_running_nodes: 3 }, prepare: onRecord },
  deleteCluster: { prepare: onRecord },
  specifyClusterCloudProviderInfo: { body: { cloud_provider: 'ON_PREMISE', credentials: null, region: 'on-premise' } },
  getClusterKubeconfig: after(onRecord, 'PUT', '/kubeconfig', kubeconfig),
  editClusterKubeconfig: { body: kubeconfig, prepare: onRecord },
  editClusterAdvancedSettings: { body: { 'loki.log_retention_in_week': 4 }, prepare: onRecord },
  getRoutingTable: after(onRecord, 'PUT', '/routingTable', routes),
  editRoutingTable: { body: routes },
  listClusterLogs: after(onEngine, 'POST', '/deploy?dry_run=true'),
  deployCluster: { prepare: onEngine },
  upgradeCluster: { prepare: onEngine },
  StopCluster: { prepare: onEngine },
  lockCluster: { body: lock, prepare: onRecord },
  'unlock-cluster': after(onRecord, 'POST', '/lock', lock),
  getClusterDiskUsage: { prepare: onEngine },
  'list-cluster-lock': after(onRecord, 'POST', '/lock', lock),
  editClusterDnsProvider: {
    body: {
      dns_provider: { provider: 'CLOUDFLARE', domain: 'example.com', email: 'a@example.com', api_token: 'hidden' },
    },
    prepare: onRecord,
  },
  getArgoCdAssociatedServices: { empty: true },
  'get-cluster-kubernetes-events': {
    query: { from_date_time: '2026-01-01T00:00:00Z', to_date_time: '2026-01-02T00:00:00Z' },
  },
  'get-cluster-metrics': { query: { endpoint: 'query', query: 'up' } },
  'get-cluster-logs': { query: { endpoint: 'query', query: '{}' } },
  createAWSCredentials: of('aws'),
  createScalewayCredentials: of('scaleway'),
  createGcpCredentials: of('gcp'),
  createAzureCredentials: of('azure'),
  createOnPremiseCredentials: of('onPremise'),
  editAWSCredentials: { body: { name: 'Another role', type: 'AWS_ROLE', role_arn: 'arn:aws:iam::1:role/x' } },
  editScalewayCredentials: { body: { name: 'Another key', scaleway_access_key: 'SCWOTHER' } },
  editGcpCredentials: { body: { name: 'Another key' } },
  editAzureCredentials: { body: { name: 'Another tenant', azure_tenant_id: 'other' } },
  editOnPremiseCredentials: { body: { name: 'Another place' } },
  listOrganizationCreditCards: { empty: true },
  listMcpServers: { empty: true },
  getAlertReceivers: { empty: true },
  getAlertRules: { empty: true },
  listSecretManagerAccessExternalSecrets: {
    refused: { status: 404, reason: /^The secret manager access .*does not exist\.$/ },
  },
}
