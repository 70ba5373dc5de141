import { cloudProviders } from '@quayside/contract/providers.ts'
import { findCredentials } from '../credentials/index.ts'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import type { ClusterRow } from './cluster-store.ts'
import type { CloudProviderInfoBody } from './settings.ts'

/** The credentials that a request names: null for none, undefined where it says nothing of them. `at` is where in the body it says it. */
export async function credentialsIn(
  sql: Sql,
  cluster: Pick<ClusterRow, 'organization_id' | 'cloud_provider' | 'region'>,
  info: CloudProviderInfoBody,
  at: string,
): Promise<string | null | undefined> {
  const { cloud_provider: vendor, organization_id } = cluster
  if (info.cloud_provider && info.cloud_provider !== vendor) {
    throw new AppError('invalid', `${at}cloud_provider must be ${vendor}, as that of the cluster.`)
  }
  if (info.region && info.region !== cluster.region) {
    throw new AppError('invalid', `${at}region must be ${cluster.region}, as that of the cluster. Set region instead.`)
  }
  if (!info.credentials) return info.credentials
  const { id } = info.credentials
  if (id === undefined) throw new AppError('invalid', `${at}credentials.id is required.`)
  const provider = cloudProviders.find((one) => one === vendor)
  const found = provider && (await findCredentials(sql, organization_id, id.toLowerCase(), provider))
  if (!found) throw new AppError('notFound', `${at}credentials.id: there are no such credentials for ${vendor}.`)
  return found.id
}

/** What a cluster is run with, as the API answers it. */
export const infoRecord = (row: ClusterRow) => ({
  cloud_provider: row.cloud_provider,
  credentials: row.credentials_id === null ? null : { id: row.credentials_id, name: row.credentials_name ?? '' },
  region: row.region,
})
