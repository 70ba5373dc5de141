import { type ProviderName, providers } from '@quayside/contract/providers.ts'
import { notFound } from '../lib/error.ts'
import { awsDatabases, databaseTypes } from './databases.ts'
import { featureRecord, features } from './features.ts'
import { type InstanceType, instanceTypes } from './instance-types.ts'
import { regions } from './regions.ts'

const names: Readonly<Record<ProviderName, string>> = {
  aws: 'Amazon Web Services',
  scaleway: 'Scaleway',
  gcp: 'Google Cloud Platform',
  azure: 'Microsoft Azure',
  onPremise: 'On premise',
}
/** The keys of the table. Object.keys loses their type. */
const providerNames = Object.keys(providers) as ProviderName[]

export const listProviders = () =>
  providerNames.map((provider) => ({
    short_name: providers[provider].cloud,
    name: names[provider],
    logo_url: '',
    regions: regions[provider],
  }))

export const listRegions = (provider: ProviderName) => regions[provider]
export const listFeatures = (provider: ProviderName) =>
  features[provider].map((feature) => featureRecord(provider, feature))

export interface InstanceFilter {
  readonly only_meets_resource_reqs?: boolean
  readonly with_gpu?: boolean
  readonly gpu?: 'INCLUDE' | 'EXCLUDE' | 'ONLY'
}

/** Returns the entries of a region or zone if one is named. 404 if the provider has no such one. */
export function listInstanceTypes(
  provider: ProviderName,
  place: string | undefined,
  filter: InstanceFilter = {},
): readonly InstanceType[] {
  if (place !== undefined) checkPlace(provider, place)
  const { only_meets_resource_reqs: fit, with_gpu, gpu = with_gpu ? 'ONLY' : 'INCLUDE' } = filter
  return instanceTypes[provider].filter((type) => {
    const hasGpu = type.gpu_info !== undefined
    if (fit && !type.attributes.meets_resource_reqs) return false
    return gpu === 'INCLUDE' || hasGpu === (gpu === 'ONLY')
  })
}

export const listDatabaseTypes = (provider: ProviderName) => databaseTypes[provider].map((name) => ({ name }))

export function listDatabaseInstanceTypes(region: string, type: string) {
  checkPlace('aws', region)
  const found = awsDatabases[type]
  if (!found)
    throw notFound('database type', shown(type), { advice: 'GET /aws/managedDatabase/type lists all of them.' })
  return found.map((name) => ({ name }))
}

function checkPlace(provider: ProviderName, place: string): void {
  if (regions[provider].some(({ name, zones }) => name === place || zones.includes(place))) return
  throw notFound('region', shown(place), { advice: `GET /${provider}/region lists all of them.` })
}

const shown = (name: string): string => JSON.stringify(name.slice(0, 100))
