import type { Permission } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'

export interface ApiTokenRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly creator_name: string
  readonly key_id: string
  readonly permissions: Permission[]
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

export async function insertApiToken(
  sql: Sql,
  row: Omit<ApiTokenRow, 'last_used_at' | 'updated_at'> & { readonly secret_hash: Buffer },
): Promise<ApiTokenRow> {
  const [inserted] = await sql<ApiTokenRow[]>`
    insert into api_token ${sql({ ...row, permissions: [...row.permissions], updated_at: row.created_at })} returning *`
  if (!inserted) throw new Error('insert returned no row')
  return inserted
}

export const listApiTokens = (sql: Sql, organizationId: string, filter: { name?: string; creatorName?: string }) =>
  sql<ApiTokenRow[]>`
    select * from api_token where organization_id = ${organizationId}
      and (${filter.name ?? null}::text is null or name = ${filter.name ?? null})
      and (${filter.creatorName ?? null}::text is null or creator_name = ${filter.creatorName ?? null})
    order by created_at, id`

/** True when there was one. */
export async function deleteApiToken(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from api_token where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}
