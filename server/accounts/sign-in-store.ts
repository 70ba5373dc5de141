import type { Sql } from '../database/index.ts'

/**
 * Returns when the next attempt is allowed: the latest time of these subjects, or undefined if it
 * is allowed now.
 */
export async function blockedUntil(sql: Sql, subjects: readonly string[], now: Date): Promise<Date | undefined> {
  const [row] = await sql<{ until: Date | null }[]>`
    select max(blocked_until) as until from sign_in_attempt
    where subject = any(${[...subjects]}) and blocked_until > ${now}`
  return row?.until ?? undefined
}

export interface Counted {
  readonly subject: string
  /** Consecutive attempts before a wait. */
  readonly limit: number
}

/**
 * Counts an attempt against each subject before the password is checked, so that concurrent
 * attempts are counted too. At the limit there is a wait of five seconds. Each further attempt
 * doubles it, up to 15 minutes. An hour without attempts resets the count. Returns the highest
 * count, with this attempt.
 */
export async function countAttempt(sql: Sql, counted: readonly Counted[], now: Date): Promise<number> {
  let most = 0
  const sorted = counted.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  for (const { subject, limit } of sorted) {
    const [row] = await sql<{ failures: number }[]>`
      insert into sign_in_attempt as a (subject, failures, last_failed_at) values (${subject}, 1, ${now})
      on conflict (subject) do update set
        failures = case when a.last_failed_at < ${now}::timestamptz - interval '1 hour' then 1 else a.failures + 1 end,
        last_failed_at = ${now},
        blocked_until = case when a.last_failed_at >= ${now}::timestamptz - interval '1 hour'
        and a.failures + 1 >= ${limit}
          then ${now}::timestamptz + least(5 * power(2, least(a.failures + 1 - ${limit}, 20)), 900) * interval
          '1 second' end
      returning failures`
    most = Math.max(most, row?.failures ?? 0)
  }
  return most
}

/** After a success the own count is reset. A shared one only gets this attempt back. */
export async function forgiveAttempt(sql: Sql, own: string, shared: readonly string[]): Promise<void> {
  await sql`delete from sign_in_attempt where subject = ${own}`
  for (const subject of shared.toSorted()) await returnAttempt(sql, subject)
}

/** Takes back one attempt, which succeeded. */
export const returnAttempt = async (sql: Sql, subject: string): Promise<void> =>
  void (await sql`
    update sign_in_attempt set failures = greatest(0, failures - 1), blocked_until = null where subject = ${subject}`)
