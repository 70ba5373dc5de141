import type { Sql } from '../database/index.ts'
import type { DiffSummary } from './chart-diff-summary.ts'

/** A diff of a chart with what was deployed and configured when it was made, and what is now. */
export interface DiffRow {
  readonly id: string
  readonly service_id: string
  readonly created_at: Date
  readonly execution_id: string | null
  readonly commit: string | null
  readonly values_commit: string | null
  readonly config_version: number | null
  readonly compared_release_id: string | null
  readonly counts: DiffSummary['counts']
}

export type WholeDiffRow = DiffRow & { readonly diff: DiffSummary }

/** Diffs that a chart keeps. */
const keptDiffs = 20

const columns = (sql: Sql) => sql`
  d.id, d.service_id, d.created_at, q.execution_id, l.commit ->> 'id' as commit,
  l.image ->> 'valuesCommit' as values_commit, l.config_version, d.compared_release_id, d.diff -> 'counts' as counts`
const fromDiffs = (sql: Sql) => sql`
  from chart_diff d left join deployment_request q on q.id = d.request_id left join release l on l.id = d.release_id`

/** Lists the diffs of a chart, newest first. */
export const listDiffs = (sql: Sql, serviceId: string) => sql<DiffRow[]>`
  select ${columns(sql)} ${fromDiffs(sql)} where d.service_id = ${serviceId}
  order by d.created_at desc, d.id desc limit ${keptDiffs}`

/** Returns a diff of a chart. Undefined if the chart has no such diff. */
export async function findDiff(sql: Sql, serviceId: string, id: string): Promise<WholeDiffRow | undefined> {
  const [row] = await sql<WholeDiffRow[]>`
    select ${columns(sql)}, d.diff ${fromDiffs(sql)} where d.id = ${id} and d.service_id = ${serviceId}`
  return row
}

/** Returns the newest diff of each of these charts. */
export const listLastDiffs = (sql: Sql, serviceIds: readonly string[]) => sql<WholeDiffRow[]>`
  select distinct on (d.service_id) ${columns(sql)}, d.diff ${fromDiffs(sql)}
  where d.service_id = any(${[...serviceIds]}::uuid[]) order by d.service_id, d.created_at desc, d.id desc`

export interface NewDiff {
  readonly id: string
  readonly serviceId: string
  readonly requestId: string
  readonly releaseId: string
  /** The installed version. Null: none. */
  readonly comparedReleaseId: string | null
  readonly now: Date
  readonly diff: DiffSummary
}

/** Stores the diff of a deployment and deletes the oldest ones of the chart. */
export async function storeDiff(sql: Sql, made: NewDiff): Promise<void> {
  await sql`
    insert into chart_diff (id, service_id, request_id, release_id, compared_release_id, created_at, diff)
    values (${made.id}, ${made.serviceId}, ${made.requestId}, ${made.releaseId}, ${made.comparedReleaseId},
      ${made.now}, ${sql.json(made.diff)})
    on conflict (service_id, request_id) do update
    set diff = excluded.diff, compared_release_id = excluded.compared_release_id`
  await sql`
    delete from chart_diff where service_id = ${made.serviceId} and id not in (
      select id from chart_diff where service_id = ${made.serviceId}
      order by created_at desc, id desc limit ${keptDiffs})`
}
