import type { CloudProvider } from '@quayside/contract/providers.ts'
import type { CredentialsType } from '@quayside/contract/resources/credentials.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { CredentialsSettings, VariantName } from './variants.ts'

export interface CredentialsRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly cloud_provider: CloudProvider
  readonly object_type: CredentialsType
  readonly variant: VariantName
  readonly name: string
  readonly settings: CredentialsSettings
  readonly sealed_secrets: string | null
}
export interface UsingCluster {
  readonly id: string
  readonly name: string
  readonly cloud_provider: CloudProvider
}

export const listCredentials = (sql: Sql, organizationId: string, provider: CloudProvider) =>
  sql<CredentialsRow[]>`
    select * from credentials where organization_id = ${organizationId} and cloud_provider = ${provider}
    order by created_at, id`

/** Lists credentials of all providers, each with the clusters that use it. */
export const listWithClusters = (sql: Sql, organizationId: string) =>
  sql<(CredentialsRow & { clusters: UsingCluster[] })[]>`
    select d.*, coalesce((select jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name,
        'cloud_provider', d.cloud_provider) order by c.created_at) from cluster c
        where c.credentials_id = d.id), '[]') as clusters
    from credentials d where d.organization_id = ${organizationId} order by d.created_at, d.id`

/** Undefined for credentials of another organization. Without a provider, searches all. */
export async function findCredentials(
  sql: Sql,
  organizationId: string,
  id: string,
  provider?: CloudProvider,
): Promise<CredentialsRow | undefined> {
  const [row] = await sql<CredentialsRow[]>`
    select * from credentials where id = ${id} and organization_id = ${organizationId}
      ${provider === undefined ? sql`` : sql`and cloud_provider = ${provider}`}`
  return row
}

/** Returns the same, and locks them until the transaction ends. */
export async function lockCredentials(
  sql: Sql,
  organizationId: string,
  id: string,
  provider: CloudProvider,
): Promise<CredentialsRow | undefined> {
  const [row] = await sql<CredentialsRow[]>`
    select * from credentials where id = ${id} and organization_id = ${organizationId} and cloud_provider = ${provider}
    for update`
  return row
}

export type CredentialsValues = Pick<CredentialsRow, 'object_type' | 'variant' | 'name' | 'settings'> & {
  readonly sealed_secrets?: string | null
}

const columns = (sql: Sql, { settings, ...values }: CredentialsValues) => ({
  ...values,
  settings: sql.json({ ...settings }),
})

export async function insertCredentials(
  sql: Sql,
  row: CredentialsValues & { id: string; organization_id: string; cloud_provider: CloudProvider },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'credentials', row.organization_id)
  await sql`insert into credentials ${sql({ ...row, ...columns(sql, row), created_at: now, updated_at: now })}`
}

export async function updateCredentials(sql: Sql, id: string, values: CredentialsValues, now: Date): Promise<void> {
  await sql`update credentials set ${sql({ ...columns(sql, values), updated_at: now })} where id = ${id}`
}

export async function namesOfClusters(sql: Sql, credentialsId: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from cluster where credentials_id = ${credentialsId} order by name limit 10`
  return rows.map(({ name }) => name)
}

export async function deleteCredentials(sql: Sql, id: string): Promise<void> {
  await sql`delete from credentials where id = ${id}`
}
