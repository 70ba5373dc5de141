import type { Sql } from '../database/index.ts'
import type { Timetable } from './timetable.ts'

export interface ScheduleRow extends Timetable {
  readonly service_id: string
  readonly release_id: string
  readonly next_at: Date | null
}

/** Locks the schedule until the transaction ends. */
export async function lockSchedule(sql: Sql, serviceId: string): Promise<ScheduleRow | undefined> {
  const [row] = await sql<ScheduleRow[]>`select * from job_schedule where service_id = ${serviceId} for update`
  return row
}

/** Returns the timetable that a job follows. Undefined if it follows none. */
export async function findSchedule(sql: Sql, serviceId: string): Promise<ScheduleRow | undefined> {
  const [row] = await sql<ScheduleRow[]>`select * from job_schedule where service_id = ${serviceId}`
  return row
}

export async function saveSchedule(sql: Sql, row: ScheduleRow): Promise<void> {
  await sql`
    insert into job_schedule ${sql({ ...row })}
    on conflict (service_id) do update set release_id = excluded.release_id, scheduled_at = excluded.scheduled_at,
      timezone = excluded.timezone, next_at = excluded.next_at`
}

export async function setNext(sql: Sql, serviceId: string, next: Date | null): Promise<void> {
  await sql`update job_schedule set next_at = ${next} where service_id = ${serviceId}`
}

export async function deleteSchedule(sql: Sql, serviceId: string): Promise<void> {
  await sql`delete from job_schedule where service_id = ${serviceId}`
}

/** An SQL expression: whether `lockDue` finds a schedule. */
export const isDue = (sql: Sql, upTo: Date) => sql`exists (select from job_schedule where next_at <= ${upTo})`

/** Locks the schedules that are due by then, except those that another server is processing. */
export const lockDue = (sql: Sql, upTo: Date) =>
  sql<(ScheduleRow & { readonly next_at: Date })[]>`
    select * from job_schedule where next_at <= ${upTo} order by next_at limit 100 for update skip locked`
