import type { Permission } from '@quayside/contract/operation.ts'
import type { Fragment, Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import { findRights } from './custom-role-store.ts'
import type { RoleColumns } from './roles.ts'

export interface ApiTokenRow extends RoleColumns {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly creator_name: string
  /** The person who created it, or null. */
  readonly creator_account_id: string | null
  readonly key_id: string
  /** Permissions for everything in the organization. Empty if it has a role. */
  readonly permissions: Permission[]
  readonly custom_role_name: string | null
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

const from = (sql: Sql, table: Fragment) => sql`
  select t.*, r.name as custom_role_name from ${table} left join custom_role r on r.id = t.custom_role_id`

export async function findApiToken(sql: Sql, id: string): Promise<ApiTokenRow | undefined> {
  const [row] = await sql<ApiTokenRow[]>`${from(sql, sql`api_token t`)} where t.id = ${id}`
  return row
}

export async function insertApiToken(
  sql: Sql,
  row: Omit<ApiTokenRow, 'last_used_at' | 'updated_at' | 'custom_role_name'> & { readonly secret_hash: Buffer },
): Promise<ApiTokenRow> {
  await takeRoom(sql, 'apiTokens', row.organization_id)
  const rights = await findRights(sql, row.custom_role_id)
  const custom_rights = rights === null ? null : sql.json(rights)
  const values = { ...row, permissions: [...row.permissions], custom_rights, updated_at: row.created_at }
  const [inserted] = await sql<ApiTokenRow[]>`
    with t as (insert into api_token ${sql(values)} returning *)
    ${from(sql, sql`t`)}`
  if (!inserted) throw new Error('insert returned no row')
  return inserted
}

export const listApiTokens = (sql: Sql, organizationId: string, filter: { name?: string; creatorName?: string }) =>
  sql<ApiTokenRow[]>`
    ${from(sql, sql`api_token t`)} where t.organization_id = ${organizationId}
      and (${filter.name ?? null}::text is null or t.name = ${filter.name ?? null})
      and (${filter.creatorName ?? null}::text is null or t.creator_name = ${filter.creatorName ?? null})
    order by t.created_at, t.id`

/** Returns whether it existed. */
export async function deleteApiToken(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from api_token where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}
