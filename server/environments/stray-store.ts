import type { Sql } from '../database/index.ts'

/** Returns which of these environments are on a cluster of an engine. */
export async function environmentsOn(sql: Sql, engine: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select e.id from environment e join cluster c on c.id = e.cluster_id
    where c.engine = ${engine} and e.id = any(${[...ids]}::uuid[])`
  return new Set(rows.map(({ id }) => id))
}
