import type { Sql } from '../database/index.ts'

export interface PolicyRow {
  readonly service_id: string
  readonly cron_at: string | null
  readonly timezone: string
  readonly keep: number
  readonly next_at: Date | null
}

export async function findPolicy(sql: Sql, serviceId: string): Promise<PolicyRow | undefined> {
  const [row] = await sql<PolicyRow[]>`select * from backup_policy where service_id = ${serviceId}`
  return row
}

export async function savePolicy(sql: Sql, row: PolicyRow): Promise<void> {
  await sql`
    insert into backup_policy ${sql({ ...row })}
    on conflict (service_id) do update set cron_at = excluded.cron_at, timezone = excluded.timezone,
      keep = excluded.keep, next_at = excluded.next_at`
}

export async function setNext(sql: Sql, serviceId: string, next: Date | null): Promise<void> {
  await sql`update backup_policy set next_at = ${next} where service_id = ${serviceId}`
}

/** An SQL expression: whether `lockDue` finds a policy. */
export const isDue = (sql: Sql, now: Date) => sql`exists (select from backup_policy where next_at <= ${now})`

/** Locks the policies that are due; skips those that another server is handling. */
export const lockDue = (sql: Sql, now: Date) => sql<(PolicyRow & { readonly next_at: Date })[]>`
  select * from backup_policy where next_at <= ${now} order by next_at limit 100 for update skip locked`
