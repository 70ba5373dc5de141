import { type CloudProvider, type CloudVendor, type ProviderName, providers } from '@quayside/contract/providers.ts'
import type { KubernetesMode } from '@quayside/contract/resources/cluster.ts'
import { AppError } from '../lib/error.ts'
import { type FeatureType, findFeature } from './features.ts'

type Free = Readonly<Record<string, unknown>>
type FeatureValue = string | boolean | Free | null

/** The fields of a request. All are optional in an edit. */
export interface ClusterBody {
  readonly name?: string
  readonly region?: string
  readonly cloud_provider?: CloudVendor
  readonly description?: string | null
  readonly cloud_provider_credentials?: CloudProviderInfoBody | null
  readonly min_running_nodes?: number
  readonly max_running_nodes?: number
  readonly disk_size?: number
  readonly disk_iops?: number | null
  readonly disk_throughput?: number | null
  readonly instance_type?: string | null
  readonly kubernetes?: KubernetesMode
  readonly production?: boolean | null
  readonly ssh_keys?: readonly string[] | null
  readonly features?: readonly { readonly id: string; readonly value?: FeatureValue }[] | null
  readonly metrics_parameters?: Free | null
  readonly infrastructure_charts_parameters?: Free | null
  readonly keda?: { readonly enabled: boolean } | null
  readonly labels_groups?: readonly { readonly id: string }[] | null
  readonly secret_manager_accesses?: readonly Free[] | null
}
export interface CloudProviderInfoBody {
  readonly cloud_provider?: CloudProvider | null
  readonly credentials?: { readonly id?: string; readonly name?: string | null } | null
  readonly region?: string | null
}

/** The settings that are stored beside the columns. */
export interface ClusterSettings {
  readonly min_running_nodes: number
  readonly max_running_nodes: number
  /** GB */
  readonly disk_size: number
  readonly disk_iops?: number
  readonly disk_throughput?: number
  readonly instance_type: string
  readonly ssh_keys: readonly string[]
  /** `id` as the client wrote the feature. */
  readonly features: readonly { readonly id: string; readonly value: FeatureValue }[]
  readonly metrics_parameters?: Free
  readonly infrastructure_charts_parameters?: Free
  readonly keda: { readonly enabled: boolean }
}

export const defaultSettings: ClusterSettings = {
  min_running_nodes: 1,
  max_running_nodes: 1,
  disk_size: 40,
  instance_type: '',
  ssh_keys: [],
  features: [],
  keda: { enabled: false },
}

/** Returns the provider of a cluster as paths name it. Undefined for one without a catalogue. */
export const providerOf = (vendor: CloudVendor): ProviderName | undefined =>
  // Object.keys loses the type of the table's keys.
  (Object.keys(providers) as ProviderName[]).find((name) => providers[name].cloud === vendor)

const settingNames = [
  'min_running_nodes',
  'max_running_nodes',
  'disk_size',
  'disk_iops',
  'disk_throughput',
  'instance_type',
  'ssh_keys',
  'features',
  'metrics_parameters',
  'infrastructure_charts_parameters',
  'keda',
] as const

/**
 * Pure: returns the settings after a request. An omitted field is unchanged, null is the default.
 * Throws 400 with the name of the field.
 */
export function changedSettings(
  former: Partial<ClusterSettings>,
  body: ClusterBody,
  vendor: CloudVendor,
): ClusterSettings {
  const given = settingNames.filter((name) => body[name] !== undefined)
  const kept = Object.entries({ ...defaultSettings, ...former }).filter(([name]) => !given.some((one) => one === name))
  const named = given.filter((name) => body[name] !== null).map((name) => [name, body[name]])
  const settings: ClusterSettings = {
    ...defaultSettings,
    ...Object.fromEntries(kept),
    ...Object.fromEntries(named),
    ...(body.features ? { features: checkedFeatures(body.features, vendor) } : {}),
  }
  if (settings.min_running_nodes > settings.max_running_nodes) {
    throw new AppError('invalid', 'min_running_nodes must not be greater than max_running_nodes.')
  }
  checkKeys(settings.ssh_keys)
  if (body.secret_manager_accesses && body.secret_manager_accesses.length > 0) {
    throw new AppError(
      'invalid',
      'secret_manager_accesses must be empty: secrets are kept here and read from nowhere else.',
    )
  }
  return settings
}

function checkKeys(keys: readonly string[]): void {
  const index = keys.findIndex((key) => /PRIVATE KEY/.test(key))
  if (index !== -1) throw new AppError('invalid', `ssh_keys[${index}] must be a public key. This one is private.`)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isObject = (value: unknown): boolean => typeof value === 'object'
const fits: Readonly<Record<FeatureType, readonly [test: (value: unknown) => boolean, words: string]>> = {
  BOOLEAN: [(value) => typeof value === 'boolean', 'true or false'],
  STRING: [isText, 'a string'],
  AWS_USER_PROVIDED_NETWORK: [isObject, 'an object'],
  GCP_USER_PROVIDED_NETWORK: [isObject, 'an object'],
  KARPENTER: [isObject, 'an object'],
  NAT_GATEWAY: [isObject, 'an object'],
}

function checkedFeatures(given: NonNullable<ClusterBody['features']>, vendor: CloudVendor) {
  const provider = providerOf(vendor)
  return given.map(({ id, value = null }, index) => {
    const feature = provider && findFeature(provider, id)
    if (!feature)
      throw new AppError('invalid', `features[${index}].id: clusters on ${vendor} do not have this feature.`)
    const [test, words] = fits[feature.type]
    if (value !== null && !test(value)) {
      throw new AppError('invalid', `features[${index}].value must be ${words}.`)
    }
    return { id, value }
  })
}

/**
 * Returns why an organization cannot create such a cluster now. Undefined if it can. `restriction`
 * is null for most.
 */
export function creationRefusal(restriction: string | null, kubernetes: KubernetesMode): string | undefined {
  if (restriction === null || kubernetes === 'SELF_MANAGED') return undefined
  return `The organization is restricted (${restriction}) and cannot create managed clusters.`
}
