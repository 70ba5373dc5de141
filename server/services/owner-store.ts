import type { Sql } from '../database/index.ts'
import type { GroupEntry, GroupKind, GroupRow } from './group-store.ts'

/** The types of objects that can have groups. */
export type GroupOwner = 'service' | 'cluster'

const tables = { service: 'service_tag_group', cluster: 'cluster_tag_group' } as const
const columns = { service: 'service_id', cluster: 'cluster_id' } as const

export type OwnedGroup = GroupRow & { readonly owner_id: string; readonly entries: readonly GroupEntry[] }

/** Lists the groups of all these owners with one query, oldest first. */
export const listOwnedGroups = (sql: Sql, owner: GroupOwner, ownerIds: readonly string[]) =>
  sql<OwnedGroup[]>`
    select g.*, t.${sql(columns[owner])} as owner_id from ${sql(tables[owner])} t join tag_group g on g.id = t.group_id
    where t.${sql(columns[owner])} = any(${[...ownerIds]}::uuid[]) order by g.created_at, g.id`

/**
 * Returns which ids are groups of the organization, and locks these groups until the transaction
 * ends.
 */
export async function holdGroups(
  sql: Sql,
  { organizationId, kind, ids }: { organizationId: string; kind: GroupKind; ids: readonly string[] },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from tag_group where organization_id = ${organizationId} and kind = ${kind}
    and id = any(${[...ids]}::uuid[])
    order by id for key share`
  return rows.map(({ id }) => id)
}

/** Replaces the owner's groups of the kind. */
export async function replaceOwnedGroups(
  sql: Sql,
  owner: GroupOwner,
  { ownerId, kind, ids }: { ownerId: string; kind: GroupKind; ids: readonly string[] },
): Promise<void> {
  await sql`
    delete from ${sql(tables[owner])} t using tag_group g
    where g.id = t.group_id and g.kind = ${kind} and t.${sql(columns[owner])} = ${ownerId}`
  if (ids.length === 0) return
  await sql`
    insert into ${sql(tables[owner])} (${sql(columns[owner])}, group_id) select ${ownerId}, unnest(${[...ids]}::uuid[])`
}

/** Copies the groups of one service to another. */
export async function copyServiceGroups(sql: Sql, fromId: string, toId: string): Promise<void> {
  await sql`
    insert into service_tag_group (service_id, group_id)
    select ${toId}, group_id from service_tag_group where service_id = ${fromId} on conflict do nothing`
}
