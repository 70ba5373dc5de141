/** Providers of clouds, by the word that paths have for them: how each writes itself, and what clusters on it are called. */
export const providers = {
  aws: { cloud: 'AWS', noun: 'AWS' },
  scaleway: { cloud: 'SCW', noun: 'Scaleway' },
  gcp: { cloud: 'GCP', noun: 'Gcp' },
  azure: { cloud: 'AZURE', noun: 'Azure' },
  onPremise: { cloud: 'ON_PREMISE', noun: 'OnPremise' },
} as const
export type ProviderName = keyof typeof providers

/** Those whose credentials can be kept here. */
export const cloudProviders = ['AWS', 'SCW', 'GCP', 'ON_PREMISE', 'AZURE'] as const
export type CloudProvider = (typeof cloudProviders)[number]

/** What a cluster can be said to run on. */
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
