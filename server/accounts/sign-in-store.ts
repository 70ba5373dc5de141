import type { Sql } from '../database/index.ts'

/** When the next attempt is allowed: the latest of these subjects; undefined where it is now. */
export async function blockedUntil(sql: Sql, subjects: readonly string[], now: Date): Promise<Date | undefined> {
  const [row] = await sql<{ until: Date | null }[]>`
    select max(blocked_until) as until from sign_in_attempt
    where subject = any(${[...subjects]}) and blocked_until > ${now}`
  return row?.until ?? undefined
}

export interface Counted {
  readonly subject: string
  /** Attempts in a row before there is a wait. */
  readonly limit: number
}

/**
 * Counts an attempt against each before it is looked at, so that many at once do not slip through. At the limit comes a wait of five
 * seconds, which doubles with each further attempt up to 15 minutes. An hour of peace begins anew.
 */
export async function countAttempt(sql: Sql, counted: readonly Counted[], now: Date): Promise<void> {
  const sorted = counted.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  for (const { subject, limit } of sorted) {
    await sql`
      insert into sign_in_attempt as a (subject, failures, last_failed_at) values (${subject}, 1, ${now})
      on conflict (subject) do update set
        failures = case when a.last_failed_at < ${now}::timestamptz - interval '1 hour' then 1 else a.failures + 1 end,
        last_failed_at = ${now},
        blocked_until = case when a.last_failed_at >= ${now}::timestamptz - interval '1 hour' and a.failures + 1 >= ${limit}
          then ${now}::timestamptz + least(5 * power(2, least(a.failures + 1 - ${limit}, 20)), 900) * interval '1 second' end`
  }
}

/** After a success: the account begins anew, the client's network only gets this one attempt back. */
export async function forgiveAttempt(sql: Sql, account: string, client: string): Promise<void> {
  await sql`delete from sign_in_attempt where subject = ${account}`
  await sql`update sign_in_attempt set failures = greatest(0, failures - 1), blocked_until = null where subject = ${client}`
}
