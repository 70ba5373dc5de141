import type { Fragment, Sql } from '../database/index.ts'

export interface StateChangeRow {
  readonly sequence: number
  readonly created_at: Date
  readonly organization_id: string
  readonly project_id: string | null
  readonly mode: string | null
  readonly cluster_id: string | null
  readonly type: string
  readonly data: Readonly<Record<string, string>>
}

export interface FeedRow {
  /** The last assigned number. */
  readonly last_sequence: number
  /** Changes up to this number are deleted. */
  readonly pruned_sequence: number
}

export async function readFeed(sql: Sql): Promise<FeedRow> {
  return only(await sql<FeedRow[]>`select last_sequence, pruned_sequence from state_change_feed`)
}

/** The same, with a lock against numbering and deleting until the transaction ends. */
export async function lockFeed(sql: Sql): Promise<FeedRow> {
  return only(await sql<FeedRow[]>`select last_sequence, pruned_sequence from state_change_feed for update`)
}

function only([row]: readonly FeedRow[]): FeedRow {
  if (!row) throw new Error('the row of state_change_feed is missing; restore the database')
  return row
}

/** Whether changes after this number exist, numbered or not. */
export async function hasNews(sql: Sql, sequence: number): Promise<boolean> {
  const [row] = await sql<{ news: boolean }[]>`
    select exists (select from state_change where sequence is null)
      or (select last_sequence from state_change_feed) > ${sequence} as news`
  return row?.news === true
}

/**
 * Numbers at most `limit` committed changes and returns their count and the last number. Requires
 * the lock of the feed.
 */
export async function numberChanges(
  sql: Sql,
  { last_sequence }: FeedRow,
  limit: number,
): Promise<{ readonly count: number; readonly last: number }> {
  const { count } = await sql`
    with fresh as (
      select id, row_number() over (order by id) as place from
        (select id from state_change where sequence is null order by id limit ${limit}) unnumbered
    ), moved as (
      update state_change_feed set last_sequence = ${last_sequence} + (select count(*) from fresh)
    )
    update state_change c set sequence = ${last_sequence} + fresh.place from fresh
    where c.id = fresh.id and c.sequence is null`
  return { count, last: last_sequence + count }
}

/** Lists numbered changes between two numbers, in order, for one organization or for all. */
export const listChanges = (
  sql: Sql,
  range: { readonly after: number; readonly upTo: number; readonly limit: number; readonly organizationId?: string },
) => sql<StateChangeRow[]>`
  select sequence, created_at, organization_id, project_id, mode, cluster_id, type, data from state_change
  where sequence > ${range.after} and sequence <= ${range.upTo}
    and (${range.organizationId ?? null}::uuid is null or organization_id = ${range.organizationId ?? null})
  order by sequence limit ${range.limit}`

/**
 * Records changes in an environment as a part of the statement that makes them. Each is a row of
 * `changes` with a `type` and `data`. It is for the only kind of change without a trigger, the
 * acceptance of a request.
 */
export const telling = (sql: Sql, environmentId: string, changes: Fragment): Fragment => sql`
  insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
  select p.organization_id, p.id, e.mode, e.cluster_id, c.type,
    jsonb_build_object('project_id', p.id, 'environment_id', e.id) || c.data
  from environment e join project p on p.id = e.project_id cross join (${changes}) c
  where e.id = ${environmentId}`

/**
 * Deletes changes written before that moment. Requires the lock of the feed, and that everything is
 * numbered.
 */
export async function deleteChanges(sql: Sql, before: Date): Promise<void> {
  await sql`
    with kept as (select sequence from state_change where created_at >= ${before} order by sequence limit 1),
    gone as (
      delete from state_change where sequence < coalesce((select sequence from kept), 9223372036854775807)
      returning sequence
    )
    update state_change_feed set pruned_sequence = greatest(pruned_sequence, (select max(sequence) from gone))
    where exists (select from gone)`
}
