import { createHash } from 'node:crypto'
import type { Sql } from '../database/index.ts'
import { interactionSeconds } from './issuer.ts'

/**
 * Marks the state of a sign-in as used. Returns whether this was the first time, also if several
 * requests come at once or at several servers.
 */
export async function takeState(sql: Sql, state: string, now: Date): Promise<boolean> {
  const hash = createHash('sha256').update(state).digest('base64url')
  // Nobody can come back to an interaction that has expired. A minute is for clocks that differ.
  const expires_at = new Date(now.getTime() + (interactionSeconds + 60) * 1000)
  const rows = await sql`
    insert into outside_state ${sql({ state_hash: hash, expires_at })}
    on conflict (state_hash) do nothing returning state_hash`
  return rows.length > 0
}

/** How many failed answers an issuer is asked about at once, and how many more each second. */
export interface FailureBudget {
  readonly most: number
  readonly perSecond: number
}

/**
 * Counts an answer as failed before the issuer is asked about it. Returns undefined, or the seconds
 * to wait if there are too many failed answers. Then it is not counted.
 */
export async function countFailure(
  sql: Sql,
  { issuer, most, perSecond }: FailureBudget & { readonly issuer: string },
  now: Date,
): Promise<number | undefined> {
  const left = sql`greatest(0, f.failures - ${perSecond}::double precision
    * greatest(0, extract(epoch from ${now}::timestamptz - f.counted_at)::double precision))`
  const counted = await sql`
    insert into outside_failure as f (issuer, failures, counted_at) values (${issuer}, 1, ${now})
    on conflict (issuer) do update set failures = ${left} + 1, counted_at = greatest(f.counted_at, ${now})
    where ${left} + 1 <= ${most}
    returning issuer`
  if (counted.length > 0) return undefined
  const [row] = await sql<{ left: number }[]>`
    select ${left} as left from outside_failure f where issuer = ${issuer}`
  return Math.max(1, Math.ceil(((row?.left ?? 0) + 1 - most) / perSecond))
}

/** Takes back the count of an answer that was right. */
export const returnFailure = async (sql: Sql, issuer: string): Promise<void> =>
  void (await sql`update outside_failure set failures = greatest(0, failures - 1) where issuer = ${issuer}`)
