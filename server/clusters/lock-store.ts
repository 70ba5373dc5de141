import type { Sql } from '../database/index.ts'
import { holdsLock } from './cluster-store.ts'

export interface LockRow {
  readonly cluster_id: string
  readonly reason: string
  readonly ttl_in_days: number | null
  readonly locked_at: Date
  readonly owner_name: string
}

/** Lists the locks that have not expired. */
export const listLocks = (sql: Sql, organizationId: string) =>
  sql<LockRow[]>`
    select l.* from cluster_lock l join cluster c on c.id = l.cluster_id
    where c.organization_id = ${organizationId} and ${holdsLock(sql)} order by l.locked_at, l.cluster_id`

/** Replaces an expired lock. Returns undefined if the cluster is locked. */
export async function insertLock(sql: Sql, row: LockRow): Promise<LockRow | undefined> {
  const [inserted] = await sql<LockRow[]>`
    insert into cluster_lock as l (cluster_id, reason, ttl_in_days, locked_at, owner_name)
    values (${row.cluster_id}, ${row.reason}, ${row.ttl_in_days}, ${row.locked_at}, ${row.owner_name})
    on conflict (cluster_id) do update set reason = excluded.reason, ttl_in_days = excluded.ttl_in_days,
      locked_at = excluded.locked_at, owner_name = excluded.owner_name
    where not ${holdsLock(sql)}
    returning *`
  return inserted
}

export async function deleteLock(sql: Sql, clusterId: string): Promise<void> {
  await sql`delete from cluster_lock where cluster_id = ${clusterId}`
}
