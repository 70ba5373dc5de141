import type { Fragment, Sql } from '../database/index.ts'

/** A restore that is in progress. */
export interface RestoreRow {
  readonly id: string
  readonly backup_id: string
  /**
   * STOPPING: the service is stopped and its data are backed up; WRITING: its volumes are being
   * changed.
   */
  readonly phase: 'CHECKING' | 'STOPPING' | 'WRITING'
  readonly was_running: boolean
  readonly stop_request: string | null
  /** Why it cannot continue: from here on it rolls back. */
  readonly failure: string | null
}

/**
 * Assigns the service to a restore. Returns false if it is gone, has another restore, or data are
 * being copied into or out of it.
 */
export async function beginRestore(
  sql: Sql,
  { id, backupId, serviceId }: { readonly id: string; readonly backupId: string; readonly serviceId: string },
): Promise<boolean> {
  const held = await sql`
    update service set restoring = ${id} where id = ${serviceId} and restoring is null and copying is null
      and not exists (select from service c where c.copying = service.id)
      and not exists (select from environment c where c.copying = service.environment_id)`
  if (held.count === 0) return false
  await sql`insert into backup_restore (id, backup_id) values (${id}, ${backupId})`
  return true
}

export async function findRestore(sql: Sql, id: string): Promise<RestoreRow | undefined> {
  const [row] = await sql<RestoreRow[]>`select * from backup_restore where id = ${id}`
  return row
}

export async function updateRestore(
  sql: Sql,
  id: string,
  change: Partial<Omit<RestoreRow, 'id' | 'backup_id'>>,
): Promise<void> {
  await sql`update backup_restore set ${sql(change)} where id = ${id}`
}

/** Releases the service. */
export async function endRestore(sql: Sql, id: string): Promise<void> {
  await sql`delete from backup_restore where id = ${id}`
  await sql`update service set restoring = null where restoring = ${id}`
}

/** The ids of all restores, as a part of a statement. */
export const unfinishedRestores = (sql: Sql): Fragment => sql`select id from backup_restore`
