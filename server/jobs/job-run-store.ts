import type { Fragment, Sql } from '../database/index.ts'
import type { JobRunRow, RunEnd, RunStatus } from './job-run.ts'

/** Number of kept runs of a service, not counting those of its timetable. */
const keptRuns = 100

type NewRun = Pick<
  JobRunRow,
  'id' | 'service_id' | 'release_id' | 'request_id' | 'trigger' | 'event' | 'scheduled_at' | 'created_at'
>

/** Returns false if it already exists, by its id or by the moment of its timetable. */
export async function insertRun(sql: Sql, run: NewRun): Promise<boolean> {
  const inserted = await sql`
    insert into job_run ${sql({ ...run, updated_at: run.created_at })} on conflict do nothing`
  return inserted.count === 1
}

export async function findRun(sql: Sql, id: string): Promise<JobRunRow | undefined> {
  const [row] = await sql<JobRunRow[]>`select * from job_run where id = ${id}`
  return row
}

/** Lists runs, newest first. */
export const listRuns = (sql: Sql, serviceId: string, count: number) =>
  sql<JobRunRow[]>`
    select * from job_run where service_id = ${serviceId}
    order by coalesce(scheduled_at, created_at) desc, id desc limit ${count}`

export const findRuns = (sql: Sql, ids: readonly string[]) =>
  sql<JobRunRow[]>`select * from job_run where id = any(${[...ids]}::uuid[])`

/** Lists the runs that a deployment request began. */
export const listRunsOf = (sql: Sql, serviceId: string, requestId: string) =>
  sql<JobRunRow[]>`select * from job_run where service_id = ${serviceId} and request_id = ${requestId}`

/** Lists the runs that have not ended. */
export const listActiveRuns = (sql: Sql, serviceId: string) =>
  sql<JobRunRow[]>`
    select * from job_run where service_id = ${serviceId} and status in ('QUEUED', 'RUNNING') order by created_at`

/** The ids of unfinished runs, as a part of a statement. */
export const unfinishedRuns = (sql: Sql): Fragment => sql`select id from job_run where status in ('QUEUED', 'RUNNING')`

export async function beginRun(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`update job_run set status = 'RUNNING', updated_at = ${now} where id = ${id} and status = 'QUEUED'`
}

/** Returns why the platform is ending an unfinished run. Undefined if it is not. */
export async function readReason(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ reason: string | null }[]>`
    select reason from job_run where id = ${id} and status in ('QUEUED', 'RUNNING')`
  return row?.reason ?? undefined
}

/** Stores why the platform is going to end a run. */
export async function noteReason(sql: Sql, id: string, reason: string): Promise<void> {
  await sql`update job_run set reason = ${reason} where id = ${id} and status in ('QUEUED', 'RUNNING')`
}

/** Writes the end once. A run that has ended is not changed. */
export async function endRun(
  sql: Sql,
  id: string,
  end: Partial<RunEnd> & { readonly status: RunStatus; readonly reason: string | null; readonly now: Date },
): Promise<void> {
  const { status, reason, now, tries = 0, exitCode = null, startedAt = null, finishedAt = null } = end
  const known = status === 'CANCELED' ? sql`coalesce(reason, ${reason})` : sql`${reason}::text`
  await sql`
    update job_run set status = ${status}, reason = ${known}, tries = ${tries}, exit_code = ${exitCode},
      started_at = ${startedAt}, finished_at = coalesce(${finishedAt}::timestamptz, ${now}), updated_at = ${now}
    where id = ${id} and status in ('QUEUED', 'RUNNING')`
}

/**
 * Keeps so many successful and so many other ended runs of a timetable, and the last ones of other
 * runs.
 */
export async function forgetRuns(
  sql: Sql,
  serviceId: string,
  keep: { readonly well: number; readonly badly: number },
): Promise<void> {
  await sql`
    delete from job_run r using (
      select id, "trigger", status = 'SUCCESS' as well, row_number() over (
        partition by "trigger" = 'CRON', "trigger" = 'CRON' and status = 'SUCCESS'
        order by coalesce(scheduled_at, created_at) desc) as place
      from job_run where service_id = ${serviceId} and status not in ('QUEUED', 'RUNNING')
    ) o
    where r.id = o.id and o.place > case
      when o."trigger" <> 'CRON' then ${keptRuns} when o.well then ${keep.well} else ${keep.badly} end::int`
}

/** Lists runs that ended longer ago than their job's settings keep them. */
export async function forgetOldRuns(sql: Sql, now: Date): Promise<void> {
  await sql`
    delete from job_run r using service s
    where s.id = r.service_id and r.finished_at < ${now}::timestamptz
      - make_interval(secs => s.run_ttl_seconds)`
}

/** Deletes and returns the failed runs of these services that ended before that moment. */
export const forgetFailedRuns = (sql: Sql, serviceIds: readonly string[], before: Date) =>
  sql<Pick<JobRunRow, 'id' | 'service_id'>[]>`
    delete from job_run where service_id = any(${[...serviceIds]}::uuid[]) and status = 'ERROR'
    and updated_at <= ${before}
    returning id, service_id`
