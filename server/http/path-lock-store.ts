import type { Sql } from '../database/index.ts'

/** Locks an address until the transaction ends, so that changes of one object run in turn. */
export async function lockPath(sql: Sql, path: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${path}, 17))`
}
