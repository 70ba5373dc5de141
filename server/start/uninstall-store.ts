import type { Sql } from '../database/index.ts'

/** Returns the ids of all services. */
export async function listServiceIds(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`select id from service`
  return rows.map(({ id }) => id)
}

/** Returns the images that the platform has fetched to an engine, by their digests. */
export async function listFetchedImages(sql: Sql, engine: string): Promise<string[]> {
  const rows = await sql<{ reference: string }[]>`select reference from fetched_image where engine = ${engine}`
  return rows.map(({ reference }) => reference)
}
