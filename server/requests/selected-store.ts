import type { Sql } from '../database/index.ts'

/** Deletes rows of services of which nothing was ever deployed. */
export async function deleteServiceRows(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`delete from service where id = any(${[...ids]}::uuid[])`
}
