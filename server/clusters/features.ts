import type { ProviderName } from '@quayside/contract/providers.ts'
import { derivedId } from '../lib/id.ts'

export type FeatureType =
  | 'BOOLEAN'
  | 'STRING'
  | 'AWS_USER_PROVIDED_NETWORK'
  | 'GCP_USER_PROVIDED_NETWORK'
  | 'KARPENTER'
  | 'NAT_GATEWAY'

/** Optional features of a provider's clusters. Clients name a feature by its key or its id. */
export interface Feature {
  readonly key: string
  readonly title: string
  readonly description: string
  readonly type: FeatureType
  /** The value if a cluster does not set one. */
  readonly initial: boolean | string | null
  /** The provider's price in US cents a month. 0 if it is free. */
  readonly cents: number
  readonly documentation: string
  readonly isUpdatable: boolean
}

const staticIp = (cents: number, documentation: string): Feature => ({
  key: 'STATIC_IP',
  title: 'Static outgoing addresses',
  description: 'Traffic of the cluster leaves through gateways with fixed addresses. The cost is that of one gateway.',
  type: 'BOOLEAN',
  initial: false,
  cents,
  documentation,
  isUpdatable: false,
})
const network = { cents: 0, isUpdatable: false } as const

const aws: readonly Feature[] = [
  staticIp(3285, 'https://docs.aws.amazon.com/vpc/latest/userguide/vpc-nat-gateway.html'),
  {
    ...network,
    key: 'VPC_SUBNET',
    title: 'Address range of the network',
    description: 'The address range of the network that is created for the cluster.',
    type: 'STRING',
    initial: '10.0.0.0/16',
    documentation: 'https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html',
  },
  {
    ...network,
    key: 'EXISTING_VPC',
    title: 'Existing network',
    description: 'The cluster uses a network that already exists.',
    type: 'AWS_USER_PROVIDED_NETWORK',
    initial: null,
    documentation: 'https://docs.aws.amazon.com/vpc/latest/userguide/what-is-amazon-vpc.html',
  },
  {
    ...network,
    key: 'KARPENTER',
    title: 'Nodes by Karpenter',
    description: 'Nodes are added and removed as workloads need them.',
    type: 'KARPENTER',
    initial: null,
    documentation: 'https://karpenter.sh/docs/',
    isUpdatable: true,
  },
]
const natGateway = (documentation: string): Feature => ({
  ...network,
  key: 'NAT_GATEWAY',
  title: 'Gateway for outgoing traffic',
  description: 'The kind of gateway for outgoing traffic of the cluster.',
  type: 'NAT_GATEWAY',
  initial: null,
  documentation,
  isUpdatable: true,
})

export const features: Readonly<Record<ProviderName, readonly Feature[]>> = {
  aws,
  scaleway: [
    staticIp(0, 'https://www.scaleway.com/en/docs/public-gateways/'),
    natGateway('https://www.scaleway.com/en/docs/public-gateways/'),
  ],
  gcp: [
    staticIp(0, 'https://cloud.google.com/nat/docs/overview'),
    {
      ...network,
      key: 'EXISTING_VPC',
      title: 'Existing network',
      description: 'The cluster uses a network that already exists.',
      type: 'GCP_USER_PROVIDED_NETWORK',
      initial: null,
      documentation: 'https://cloud.google.com/vpc/docs/overview',
    },
    natGateway('https://cloud.google.com/nat/docs/overview'),
  ],
  azure: [staticIp(0, 'https://learn.microsoft.com/azure/nat-gateway/nat-overview')],
  onPremise: [],
}

export const featureId = (provider: ProviderName, { key }: Feature): string => derivedId('feature', provider, key)

/** Returns the feature with this key or id. */
export const findFeature = (provider: ProviderName, word: string): Feature | undefined =>
  features[provider].find((feature) => feature.key === word || featureId(provider, feature) === word.toLowerCase())

/** Returns it in API format: `id` as the client wrote it, and the stored value. */
export function featureRecord(provider: ProviderName, feature: Feature, given?: { id: string; value: unknown }) {
  const { type, cents, isUpdatable, initial } = feature
  const value = given ? given.value : initial
  return {
    id: given?.id ?? featureId(provider, feature),
    title: feature.title,
    description: feature.description,
    cost_per_month_in_cents: cents,
    cost_per_month: cents / 100,
    currency_code: 'USD',
    is_cloud_provider_paying_feature: cents > 0,
    cloud_provider_feature_documentation: feature.documentation,
    is_qovery_paying_feature: false,
    qovery_feature_documentation: null,
    value_type: type,
    value_object: value === null ? null : { type, value },
    is_value_updatable: isUpdatable,
    accepted_values: type === 'BOOLEAN' ? ['true', 'false'] : [],
  }
}
