import type { annotationScopes, TaggedItemType } from '@quayside/contract/resources/tag-group.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export type GroupKind = 'annotations' | 'labels'
export type AnnotationScope = (typeof annotationScopes)[number]

/** An annotation; a label if it has the third member. */
export interface GroupEntry {
  readonly key: string
  readonly value: string
  readonly propagate_to_cloud_provider?: boolean
}

export interface GroupRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly kind: GroupKind
  readonly name: string
  readonly entries: readonly GroupEntry[]
  readonly scopes: readonly AnnotationScope[]
}
export type GroupValues = Pick<GroupRow, 'name' | 'entries' | 'scopes'>

export const listGroups = (sql: Sql, organizationId: string, kind: GroupKind) =>
  sql<(GroupRow & { readonly associated_items_count: number })[]>`
    select g.*, (select count(*) from service_tag_group s where s.group_id = g.id)::int
      + (select count(*) from cluster_tag_group c where c.group_id = g.id)::int as associated_items_count
    from tag_group g where g.organization_id = ${organizationId} and g.kind = ${kind} order by g.created_at, g.id`

export async function findGroup(
  sql: Sql,
  { organizationId, kind, id }: { organizationId: string; kind: GroupKind; id: string },
): Promise<GroupRow | undefined> {
  const [row] = await sql<GroupRow[]>`
    select * from tag_group where id = ${id} and organization_id = ${organizationId} and kind = ${kind}`
  return row
}

/** Locks the group so that nothing else gets it until the transaction ends. */
export async function lockGroup(sql: Sql, id: string): Promise<void> {
  await sql`select from tag_group where id = ${id} for update`
}

export async function insertGroup(
  sql: Sql,
  row: GroupValues & Pick<GroupRow, 'id' | 'organization_id' | 'kind'>,
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'groups', row.organization_id)
  await sql`
    insert into tag_group (id, organization_id, created_at, updated_at, kind, name, entries, scopes)
    values (${row.id}, ${row.organization_id}, ${now}, ${now}, ${row.kind}, ${row.name}, ${entriesJson(sql, row)},
      ${[...row.scopes]})`
}

/** Marks the services that have the group as different from their deployed version. */
export async function updateGroup(sql: Sql, id: string, values: GroupValues, now: Date): Promise<void> {
  await sql`
    update tag_group set name = ${values.name}, entries = ${entriesJson(sql, values)}, scopes = ${[...values.scopes]},
      updated_at = ${now} where id = ${id}`
  await sql`
    update service set config_version = config_version + 1
    where id in (select service_id from service_tag_group where group_id = ${id})`
}

export async function deleteGroup(sql: Sql, id: string): Promise<void> {
  await sql`delete from tag_group where id = ${id}`
}

/** Entries contain only JSON. */
const entriesJson = (sql: Sql, { entries }: Pick<GroupRow, 'entries'>) =>
  sql.json(entries.map((entry) => ({ ...entry })))

/** A service, or a cluster without the members about a project. */
export interface GroupItemRow {
  readonly cluster_id: string
  readonly cluster_name: string
  readonly project_id?: string
  readonly project_name?: string
  readonly environment_id?: string
  readonly environment_name?: string
  readonly environment_mode?: string
  readonly item_id: string
  readonly item_name: string
  readonly item_type: TaggedItemType
}

/**
 * Lists the owners of the group. A service with a schedule is a job: a cron job with a timetable,
 * or a lifecycle job.
 */
export async function listGroupItems(sql: Sql, id: string): Promise<GroupItemRow[]> {
  const services = await sql<GroupItemRow[]>`
    select c.id as cluster_id, c.name as cluster_name, p.id as project_id, p.name as project_name,
      e.id as environment_id, e.name as environment_name, e.mode as environment_mode,
      s.id as item_id, s.name as item_name,
      coalesce(s.job_type, upper(s.kind)) as item_type
    from service_tag_group t join service s on s.id = t.service_id join environment e on e.id = s.environment_id
      join project p on p.id = e.project_id join cluster c on c.id = e.cluster_id
    where t.group_id = ${id} order by s.created_at, s.id`
  const clusters = await sql<GroupItemRow[]>`
    select c.id as cluster_id, c.name as cluster_name, c.id as item_id, c.name as item_name, 'CLUSTER' as item_type
    from cluster_tag_group t join cluster c on c.id = t.cluster_id where t.group_id = ${id} order by c.created_at, c.id`
  return [...services, ...clusters]
}
