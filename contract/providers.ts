/** Cloud providers by their word in paths, with their names and the names of their clusters. */
export const providers = {
  aws: { cloud: 'AWS', noun: 'AWS' },
  scaleway: { cloud: 'SCW', noun: 'Scaleway' },
  gcp: { cloud: 'GCP', noun: 'Gcp' },
  azure: { cloud: 'AZURE', noun: 'Azure' },
  onPremise: { cloud: 'ON_PREMISE', noun: 'OnPremise' },
} as const
export type ProviderName = keyof typeof providers

/** The providers whose credentials can be stored. */
export const cloudProviders = ['AWS', 'SCW', 'GCP', 'ON_PREMISE', 'AZURE'] as const
export type CloudProvider = (typeof cloudProviders)[number]

/** The values for the provider of a cluster. */
export const cloudVendors = [
  'AWS',
  'SCW',
  'GCP',
  'DO',
  'AZURE',
  'OVH',
  'CIVO',
  'HETZNER',
  'ORACLE',
  'IBM',
  'ON_PREMISE',
] as const
export type CloudVendor = (typeof cloudVendors)[number]
