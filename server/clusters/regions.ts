import type { ProviderName } from '@quayside/contract/providers.ts'

export interface Region {
  readonly name: string
  readonly country_code: string
  readonly country: string
  readonly city: string
  readonly arm_supported: boolean
  readonly zones: readonly string[]
}

/** Name, country code, country, city. */
type Place = readonly [string, string, string, string]

/** A zone's name is the region and a suffix. */
const regionsOf = (places: readonly Place[], suffixes: readonly string[], arm: boolean): Region[] =>
  places.map(([name, country_code, country, city]) => ({
    name,
    country_code,
    country,
    city,
    arm_supported: arm,
    zones: suffixes.map((suffix) => `${name}${suffix}`),
  }))

const aws: readonly Place[] = [
  ['us-east-1', 'US', 'United States', 'Ashburn, Virginia'],
  ['us-east-2', 'US', 'United States', 'Columbus, Ohio'],
  ['us-west-1', 'US', 'United States', 'San Francisco, California'],
  ['us-west-2', 'US', 'United States', 'Portland, Oregon'],
  ['ca-central-1', 'CA', 'Canada', 'Montreal'],
  ['eu-west-1', 'IE', 'Ireland', 'Dublin'],
  ['eu-west-2', 'GB', 'United Kingdom', 'London'],
  ['eu-west-3', 'FR', 'France', 'Paris'],
  ['eu-central-1', 'DE', 'Germany', 'Frankfurt'],
  ['eu-north-1', 'SE', 'Sweden', 'Stockholm'],
  ['eu-south-1', 'IT', 'Italy', 'Milan'],
  ['ap-south-1', 'IN', 'India', 'Mumbai'],
  ['ap-northeast-1', 'JP', 'Japan', 'Tokyo'],
  ['ap-northeast-2', 'KR', 'South Korea', 'Seoul'],
  ['ap-southeast-1', 'SG', 'Singapore', 'Singapore'],
  ['ap-southeast-2', 'AU', 'Australia', 'Sydney'],
  ['sa-east-1', 'BR', 'Brazil', 'São Paulo'],
  ['me-south-1', 'BH', 'Bahrain', 'Manama'],
  ['af-south-1', 'ZA', 'South Africa', 'Cape Town'],
]
const scaleway: readonly Place[] = [
  ['fr-par', 'FR', 'France', 'Paris'],
  ['nl-ams', 'NL', 'Netherlands', 'Amsterdam'],
  ['pl-waw', 'PL', 'Poland', 'Warsaw'],
]
const gcp: readonly Place[] = [
  ['us-central1', 'US', 'United States', 'Council Bluffs, Iowa'],
  ['us-east1', 'US', 'United States', 'Moncks Corner, South Carolina'],
  ['us-west1', 'US', 'United States', 'The Dalles, Oregon'],
  ['northamerica-northeast1', 'CA', 'Canada', 'Montreal'],
  ['southamerica-east1', 'BR', 'Brazil', 'São Paulo'],
  ['europe-west1', 'BE', 'Belgium', 'St. Ghislain'],
  ['europe-west2', 'GB', 'United Kingdom', 'London'],
  ['europe-west3', 'DE', 'Germany', 'Frankfurt'],
  ['europe-west4', 'NL', 'Netherlands', 'Eemshaven'],
  ['europe-west9', 'FR', 'France', 'Paris'],
  ['asia-northeast1', 'JP', 'Japan', 'Tokyo'],
  ['asia-south1', 'IN', 'India', 'Mumbai'],
  ['asia-southeast1', 'SG', 'Singapore', 'Singapore'],
  ['australia-southeast1', 'AU', 'Australia', 'Sydney'],
]
const azure: readonly Place[] = [
  ['eastus', 'US', 'United States', 'Richmond, Virginia'],
  ['westus2', 'US', 'United States', 'Quincy, Washington'],
  ['canadacentral', 'CA', 'Canada', 'Toronto'],
  ['brazilsouth', 'BR', 'Brazil', 'Campinas'],
  ['northeurope', 'IE', 'Ireland', 'Dublin'],
  ['westeurope', 'NL', 'Netherlands', 'Amsterdam'],
  ['uksouth', 'GB', 'United Kingdom', 'London'],
  ['francecentral', 'FR', 'France', 'Paris'],
  ['germanywestcentral', 'DE', 'Germany', 'Frankfurt'],
  ['swedencentral', 'SE', 'Sweden', 'Gävle'],
  ['centralindia', 'IN', 'India', 'Pune'],
  ['japaneast', 'JP', 'Japan', 'Tokyo'],
  ['southeastasia', 'SG', 'Singapore', 'Singapore'],
  ['australiaeast', 'AU', 'Australia', 'Sydney'],
]

/** Regions in the providers' documentation. */
export const regions: Readonly<Record<ProviderName, readonly Region[]>> = {
  aws: regionsOf(aws, ['a', 'b', 'c'], true),
  scaleway: regionsOf(scaleway, ['-1', '-2'], false),
  gcp: regionsOf(gcp, ['-a', '-b', '-c'], true),
  azure: regionsOf(azure, ['-1', '-2', '-3'], true),
  onPremise: regionsOf([['on-premise', '', '', '']], [], process.arch === 'arm64'),
}
