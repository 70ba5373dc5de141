import { cloudProviders } from '@quayside/contract/providers.ts'
import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { ClusterRow } from './cluster-store.ts'
import { findCredentials } from './credentials-store.ts'
import type { CloudProviderInfoBody } from './settings.ts'

/**
 * Returns the credentials that a request names: null for none, undefined if it does not mention
 * them. `at` is their place in the body.
 */
export async function credentialsIn(
  sql: Sql,
  cluster: Pick<ClusterRow, 'organization_id' | 'cloud_provider'>,
  info: CloudProviderInfoBody,
  at: string,
): Promise<string | null | undefined> {
  const { cloud_provider: vendor, organization_id } = cluster
  if (info.cloud_provider && info.cloud_provider !== vendor) {
    throw new AppError('invalid', `${at}cloud_provider must be ${vendor}, as that of the cluster.`)
  }
  if (!info.credentials) return info.credentials
  const { id } = info.credentials
  if (id === undefined) throw new AppError('invalid', `${at}credentials.id is required.`)
  const provider = cloudProviders.find((one) => one === vendor)
  const found = provider && (await findCredentials(sql, organization_id, id.toLowerCase(), provider))
  if (!found) throw notFound(`${vendor} credentials object`, id, { field: `${at}credentials.id` })
  return found.id
}

/**
 * Throws AppError('invalid') if the information about the provider names another region than the
 * cluster's.
 */
export function checkRegion({ region }: CloudProviderInfoBody, expected: string): void {
  if (!region || region === expected) return
  throw new AppError('invalid', `cloud_provider_credentials.region must be ${expected}, as region says.`)
}

/** The credentials of a cluster in API format. */
export const infoRecord = (row: ClusterRow) => ({
  cloud_provider: row.cloud_provider,
  credentials: row.credentials_id === null ? null : { id: row.credentials_id, name: row.credentials_name ?? '' },
  region: row.region,
})
