import type { ProviderName } from '@quayside/contract/providers.ts'

/** Managed databases of clouds, with the machines that they offer for them. */
const burstable = ['micro', 'small', 'medium', 'large', 'xlarge', '2xlarge']
const steady = ['large', 'xlarge', '2xlarge', '4xlarge']
const named = (prefix: string, family: string, sizes: readonly string[]): string[] =>
  sizes.map((size) => `${prefix}.${family}.${size}`)
const relational = [...named('db', 't3', burstable), ...named('db', 't4g', burstable), ...named('db', 'm5', steady)]

/** Machines of AWS, by type. */
export const awsDatabases: Readonly<Record<string, readonly string[]>> = {
  POSTGRESQL: relational,
  MYSQL: relational,
  MONGODB: [...named('db', 't3', ['medium']), ...named('db', 'r5', steady)],
  REDIS: [...named('cache', 't3', ['micro', 'small', 'medium']), ...named('cache', 'm5', steady)],
}

/** Types, by provider. */
export const databaseTypes: Readonly<Record<ProviderName, readonly string[]>> = {
  aws: Object.keys(awsDatabases),
  scaleway: ['POSTGRESQL', 'MYSQL', 'REDIS'],
  gcp: [],
  azure: [],
  onPremise: [],
}
