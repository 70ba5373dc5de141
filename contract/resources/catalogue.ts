import { operation } from '../operation.ts'
import type { ProviderName } from '../providers.ts'
import { Enum, Nullable, Results, type TSchema, Type, Uuid } from '../schema.ts'

export const featureTypes = [
  'STRING',
  'BOOLEAN',
  'AWS_USER_PROVIDED_NETWORK',
  'GCP_USER_PROVIDED_NETWORK',
  'KARPENTER',
  'NAT_GATEWAY',
] as const

const word = Type.String()
export const ClusterRegion = Type.Object({
  name: word,
  country_code: word,
  country: word,
  city: word,
  arm_supported: Type.Boolean(),
  zones: Type.Array(word),
})

/** A feature of clusters. The catalogue has its default, a cluster its value. */
const feature = {
  title: word,
  description: Nullable(word),
  cost_per_month_in_cents: Nullable(Type.Integer()),
  cost_per_month: Nullable(Type.Number()),
  currency_code: Nullable(word),
  is_cloud_provider_paying_feature: Type.Boolean(),
  cloud_provider_feature_documentation: Nullable(word),
  is_qovery_paying_feature: Type.Boolean(),
  qovery_feature_documentation: Nullable(word),
  /** The public API has only BOOLEAN. Its Go client accepts any string. */
  value_type: Enum(featureTypes),
  /** `value` is a boolean for BOOLEAN, a string for STRING, otherwise an object. */
  value_object: Nullable(Type.Object({ type: Enum(featureTypes), value: Type.Unknown() })),
  is_value_updatable: Type.Boolean(),
  accepted_values: Type.Array(word),
}
export const CatalogueFeature = Type.Object({ id: Uuid, ...feature })
/** `id` is the id or the key of the feature, as the client sent it. */
export const ClusterFeature = Type.Object({ id: word, ...feature })

const InstanceType = Type.Object({
  type: word,
  name: word,
  cpu: Type.Integer(),
  ram_in_gb: Type.Integer(),
  bandwidth_in_gbps: word,
  bandwidth_guarantee: word,
  architecture: word,
  gpu_info: Type.Optional(Type.Object({ count: Type.Integer(), name: word, manufacturer: word, memory_in_mib: word })),
  attributes: Type.Object({
    instance_category: word,
    instance_generation: Type.Integer(),
    instance_family: word,
    instance_size: word,
    meets_resource_reqs: Type.Boolean(),
  }),
})
const CloudProvider = Type.Object({
  short_name: word,
  name: word,
  logo_url: word,
  regions: Type.Array(ClusterRegion),
})
const Named = Type.Object({ name: word })
const InstanceQuery = Type.Object({
  only_meets_resource_reqs: Type.Optional(Type.Boolean()),
  with_gpu: Type.Optional(Type.Boolean()),
  gpu: Type.Optional(Enum(['INCLUDE', 'EXCLUDE', 'ONLY'])),
})

const read = { method: 'GET', target: 'caller', access: 'read', tag: 'Catalogue', status: 200 } as const

const regions = <const P extends ProviderName>(provider: P) =>
  operation({
    ...read,
    provider,
    path: `/${provider}/region`,
    handler: 'listRegions',
    summary: 'Lists the regions of a cloud provider.',
    reply: Results(ClusterRegion),
  })
const features = <const P extends ProviderName>(provider: P) =>
  operation({
    ...read,
    provider,
    path: `/${provider}/clusterFeature`,
    handler: 'listFeatures',
    summary: 'Lists the optional features of clusters on a cloud provider.',
    reply: Results(CatalogueFeature),
  })
const machines = { reply: Results(InstanceType), summary: 'Lists the machine types for the nodes of a cluster.' }
const allInstanceTypes = <const P extends ProviderName>(provider: P) =>
  operation({ ...read, ...machines, provider, path: `/${provider}/instanceType`, handler: 'listInstanceTypes' })
const instanceTypesIn = <const P extends ProviderName, const S extends string>(provider: P, path: S) =>
  operation({ ...read, ...machines, provider, path, handler: 'listInstanceTypesIn' })
const instanceTypesWith = <const P extends ProviderName, const S extends string>(provider: P, path: S) =>
  operation({ ...read, ...machines, provider, path, query: InstanceQuery, handler: 'searchInstanceTypes' })
const databaseTypes = <const P extends 'aws' | 'scaleway'>(provider: P) =>
  operation({
    ...read,
    provider,
    path: `/${provider}/managedDatabase/type`,
    handler: 'listDatabaseTypes',
    summary: 'Lists the managed database types of a cloud provider.',
    reply: Results(Named),
  })

/** A list of the console that is always empty here. */
const nothing = <const S extends string>(path: S, summary: string, record: TSchema) =>
  operation({
    ...read,
    target: 'organization',
    tag: 'Organization',
    path: `/organization/{organizationId}/${path}`,
    handler: 'listNothing',
    summary,
    reply: Results(record),
  })

export const catalogueOperations = {
  listCloudProvider: operation({
    ...read,
    path: '/cloudProvider',
    handler: 'listProviders',
    summary: 'Lists the cloud providers with their regions.',
    reply: Results(CloudProvider),
  }),
  listAWSRegions: regions('aws'),
  listScalewayRegions: regions('scaleway'),
  listGcpRegions: regions('gcp'),
  listAzureRegions: regions('azure'),
  listAWSFeatures: features('aws'),
  listScalewayFeatures: features('scaleway'),
  listGcpFeatures: features('gcp'),
  listAzureFeatures: features('azure'),
  listAWSInstanceType: allInstanceTypes('aws'),
  listScalewayInstanceType: allInstanceTypes('scaleway'),
  listAWSEKSInstanceType: instanceTypesWith('aws', '/aws/eks/instanceType/{region}'),
  listAzureAKSInstanceType: instanceTypesWith('azure', '/azure/aks/instanceType/{region}'),
  listScalewayKapsuleInstanceType: instanceTypesIn('scaleway', '/scaleway/instanceType/{zone}'),
  listGcpGkeInstanceType: instanceTypesIn('gcp', '/gcp/instanceType/{region}'),
  listAWSManagedDatabaseType: databaseTypes('aws'),
  listSCWManagedDatabaseType: databaseTypes('scaleway'),
  listAWSManagedDatabaseInstanceType: operation({
    ...read,
    provider: 'aws',
    path: '/aws/managedDatabase/instanceType/{region}/{databaseType}',
    handler: 'listDatabaseInstanceTypes',
    summary: 'Lists the machine types of AWS for one type of managed database.',
    reply: Results(Named),
  }),
  listOrganizationCreditCards: nothing(
    'creditCard',
    'Lists the credit cards of an organization. Always empty: nothing is billed.',
    Type.Object({ id: Uuid }),
  ),
  listMcpServers: nothing(
    'mcpServer',
    'Lists the MCP servers of an organization. Always empty: none can be registered.',
    Type.Object({ id: Uuid }),
  ),
  getAlertReceivers: nothing(
    'alert-receivers',
    'Lists the alert receivers of an organization. Always empty: webhooks report deployments instead.',
    Type.Object({ id: Uuid }),
  ),
  getAlertRules: nothing(
    'alert-rules',
    'Lists the alert rules of an organization. Always empty: no alerts are sent.',
    Type.Object({ id: Uuid }),
  ),
  getOrganizationCurrentCost: operation({
    ...read,
    target: 'organization',
    tag: 'Organization',
    path: '/organization/{organizationId}/currentCost',
    handler: 'getCurrentCost',
    summary: 'Returns the current cost of an organization. Always zero.',
    reply: Type.Object({
      plan: word,
      remaining_trial_day: Type.Integer(),
      renewal_at: Type.Null(),
      cost: Type.Object({ total_in_cents: Type.Integer(), total: Type.Number(), currency_code: word }),
    }),
  }),
  getOrganizationOnboarding: operation({
    ...read,
    target: 'organization',
    tag: 'Organization',
    path: '/organization/{organizationId}/onboarding',
    handler: 'getOnboarding',
    summary: 'Returns the state of the onboarding of an organization. It is always over.',
    reply: Type.Object({
      use_cases: Type.Null(),
      status: Enum(['IN_PROGRESS', 'DISMISSED', 'COMPLETED']),
    }),
  }),
  getBlueprintCatalog: operation({
    ...read,
    target: 'organization',
    tag: 'Organization',
    path: '/organization/{organizationId}/blueprint/catalog',
    handler: 'getBlueprints',
    summary: 'Lists the blueprints for services. Always empty.',
    reply: Type.Object({
      version: word,
      generatedAt: Type.String(),
      blueprints: Type.Array(Type.Object({ name: word })),
    }),
  }),
  listSecretManagerAccessExternalSecrets: operation({
    ...read,
    path: '/secretManagerAccess/{secretManagerAccessId}/associatedServices',
    handler: 'listExternalSecrets',
    tag: 'Cluster',
    summary: 'Lists the services that use an external secret manager. Always 404: none can be connected.',
    reply: Results(Type.Object({ service_id: Uuid })),
  }),
} as const
