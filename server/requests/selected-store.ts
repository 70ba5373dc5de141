import type { Sql } from '../database/index.ts'

/** Deletes the rows of services that were never deployed. */
export async function deleteServiceRows(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from service where id = any(${[...ids]}::uuid[])`
}
