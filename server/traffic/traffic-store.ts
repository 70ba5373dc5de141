import type { Sql } from '../database/index.ts'
import type { RouterScope } from '../routers/index.ts'
import type { Counts } from './figures.ts'
import type { Part } from './levels.ts'

/** Records that a batch of a router process is stored. Returns false if it already was. */
export async function claimBatch(
  sql: Sql,
  { source, batch }: { readonly source: string; readonly batch: number },
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    insert into traffic_source as known (id, batch, stored_at) values (${source}, ${batch}, ${now})
    on conflict (id) do update set batch = excluded.batch, stored_at = excluded.stored_at
    where known.batch < excluded.batch`
  return count === 1
}

/** The counts of services in one window. */
export interface Addition {
  readonly counts: ReadonlyMap<string, Counts>
  readonly seconds: number
  readonly startsAt: Date
  /** The router that counted. Services of other clusters are ignored. */
  readonly scope: RouterScope
}

/** Adds counts to a window and to the totals. Ignores services that no longer exist. */
export const addCounts = (sql: Sql, { counts, seconds, startsAt, scope: { engines, isRest } }: Addition) => sql`
  with given as (
    select s.id as service_id, counted.counts::bigint[] as counts
    from unnest(${[...counts.keys()]}::uuid[], ${[...counts.values()].map((one) => `{${one.join()}}`)}::text[])
      as counted (id, counts)
      join service s on s.id = counted.id
      join environment e on e.id = s.environment_id join cluster k on k.id = e.cluster_id
    where coalesce(k.engine = any(${[...engines]}::text[]), false) <> ${isRest}
    order by s.id
  ), total as (
    insert into traffic_total as t (service_id, counts) select service_id, counts from given
    on conflict (service_id) do update set counts = add_counts(t.counts, excluded.counts)
  )
  insert into traffic_window as w (service_id, seconds, starts_at, counts)
  select service_id, ${seconds}, ${startsAt}, counts from given
  on conflict (service_id, seconds, starts_at) do update set counts = add_counts(w.counts, excluded.counts)`

/** Returns up to when the windows of each length are complete, in milliseconds since 1970. */
export async function readCompleteUntil(sql: Sql): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ seconds: number; complete_until: Date }[]>`
    select seconds, complete_until from traffic_summary`
  return new Map(rows.map(({ seconds, complete_until }) => [seconds, complete_until.getTime()]))
}

export const writeCompleteUntil = (sql: Sql, seconds: number, until: Date) => sql`
  insert into traffic_summary (seconds, complete_until) values (${seconds}, ${until})
  on conflict (seconds) do update set complete_until = excluded.complete_until`

/** Returns the start of the first window of a length that begins at a time or later. */
export async function findFirstWindow(sql: Sql, seconds: number, from: Date): Promise<Date | undefined> {
  const [row] = await sql<{ starts_at: Date | null }[]>`
    select min(starts_at) as starts_at from traffic_window where seconds = ${seconds} and starts_at >= ${from}`
  return row?.starts_at ?? undefined
}

/** Replaces the windows of a length with one start by the sums of finer ones. Safe to repeat. */
export const summarize = (
  sql: Sql,
  { finer, seconds, startsAt }: { readonly finer: number; readonly seconds: number; readonly startsAt: Date },
) => sql`
  insert into traffic_window (service_id, seconds, starts_at, counts)
  select service_id, ${seconds}, ${startsAt}, array_agg(least(total, 4611686018427387904)::bigint order by place)
  from (
    select service_id, place, sum(count) as total
    from traffic_window, unnest(counts) with ordinality as each (count, place)
    where seconds = ${finer} and starts_at >= ${startsAt}
      and starts_at < ${startsAt}::timestamptz + make_interval(secs => ${seconds})
    group by service_id, place
  ) sums group by service_id
  on conflict (service_id, seconds, starts_at) do update set counts = excluded.counts`

/** Deletes at most `limit` windows of a length that began before a time. Returns their number. */
export async function deleteWindows(sql: Sql, seconds: number, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from traffic_window where (service_id, seconds, starts_at) in (
      select service_id, seconds, starts_at from traffic_window
      where seconds = ${seconds} and starts_at < ${before} order by starts_at limit ${limit})`
  return count
}

export const deleteSources = (sql: Sql, before: Date) => sql`delete from traffic_source where stored_at < ${before}`

export interface WindowRow {
  readonly starts_at: Date
  readonly counts: Counts
}

/** Returns the windows of a service in these parts of a range. */
export const listWindows = (sql: Sql, serviceId: string, parts: readonly Part[]) => sql<WindowRow[]>`
  select w.starts_at, w.counts
  from unnest(${parts.map(({ seconds }) => seconds)}::int[], ${timesOf(parts.map(({ fromMs }) => fromMs))}::text[],
      ${timesOf(parts.map(({ toMs }) => toMs))}::text[]) as part (seconds, starts, ends)
    join traffic_window w on w.service_id = ${serviceId} and w.seconds = part.seconds
      and w.starts_at >= part.starts::timestamptz and w.starts_at < part.ends::timestamptz`

const timesOf = (times: readonly number[]): string[] => times.map((ms) => new Date(ms).toISOString())

/**
 * Returns the sums of the windows of one length since a time, for each service of an environment.
 */
export const listSums = (
  sql: Sql,
  { environmentId, seconds, from }: { readonly environmentId: string; readonly seconds: number; readonly from: Date },
) => sql<{ service_id: string; counts: Counts }[]>`
  select service_id, array_agg(total::bigint order by place) as counts
  from (
    select w.service_id, place, sum(count) as total
    from service s join traffic_window w on w.service_id = s.id and w.seconds = ${seconds} and w.starts_at >= ${from},
      unnest(w.counts) with ordinality as each (count, place)
    where s.environment_id = ${environmentId}
    group by w.service_id, place
  ) sums group by service_id`
