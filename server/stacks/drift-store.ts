import type { Sql } from '../database/index.ts'

/** When a stack is checked for drift. */
export interface DriftPolicyRow {
  readonly service_id: string
  readonly cron_at: string | null
  readonly timezone: string
  readonly next_at: Date | null
}

export async function findDriftPolicy(
  sql: Sql,
  serviceId: string,
): Promise<(DriftPolicyRow & { readonly drifted_at: Date | null }) | undefined> {
  const [row] = await sql<(DriftPolicyRow & { readonly drifted_at: Date | null })[]>`
    select s.id as service_id, p.cron_at, coalesce(p.timezone, 'Etc/UTC') as timezone, p.next_at, s.drifted_at
    from service s left join stack_drift_policy p on p.service_id = s.id where s.id = ${serviceId}`
  return row
}

export async function saveDriftPolicy(sql: Sql, row: DriftPolicyRow): Promise<void> {
  await sql`
    insert into stack_drift_policy ${sql({ ...row })}
    on conflict (service_id) do update
      set cron_at = excluded.cron_at, timezone = excluded.timezone, next_at = excluded.next_at`
}

/** An SQL expression: whether `lockDueDrift` finds a policy. */
export const isDriftDue = (sql: Sql, now: Date) => sql`exists (select from stack_drift_policy where next_at <= ${now})`

/** Locks the policies that are due; skips policies that another server is handling. */
export const lockDueDrift = (sql: Sql, now: Date) => sql<DriftPolicyRow[]>`
  select * from stack_drift_policy where next_at <= ${now} order by next_at limit 100 for update skip locked`

export async function setNextDrift(sql: Sql, serviceId: string, next: Date | null): Promise<void> {
  await sql`update stack_drift_policy set next_at = ${next} where service_id = ${serviceId}`
}

/** Records whether a deployment would change something. Returns whether that is news. */
export async function setDrifted(sql: Sql, serviceId: string, drifted: Date | null): Promise<boolean> {
  const changed = await sql`
    update service set drifted_at = ${drifted}
    where id = ${serviceId} and (drifted_at is null) <> ${drifted === null}`
  return changed.count > 0
}

/** Records the plan of a check. Returns false if the run no longer has the lock of its stack. */
export async function holdsLock(sql: Sql, runId: string): Promise<boolean> {
  const rows = await sql`select id from stack_run where id = ${runId} and status = 'RUNNING' for update`
  return rows.length === 1
}

/** The ids of checks that have not ended, as a `select` of one column. */
export const unfinishedDrift = (sql: Sql) => sql`select id from stack_run where action = 'DRIFT' and status = 'RUNNING'`
