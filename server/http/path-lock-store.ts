import type { Sql } from '../database/index.ts'

/** Whoever else changes what stands under this address waits until the transaction ends. */
export async function lockPath(sql: Sql, path: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${path}, 17))`
}
