import type { Sql } from '../database/index.ts'
import type { Written } from './archive-file.ts'

/** The file of one volume. */
export interface FileRow {
  readonly backup_id: string
  readonly number: number
  readonly mount_point: string
  /** Below the directory of backups. */
  readonly path: string
  readonly archive_bytes: number | null
  readonly file_bytes: number | null
  readonly entries: number | null
  readonly digest: string | null
  readonly sealed_key: string | null
}

type Planned = Pick<FileRow, 'backup_id' | 'number' | 'mount_point' | 'path'>

export async function insertFiles(sql: Sql, rows: readonly Planned[]): Promise<void> {
  if (rows.length === 0) return
  const columns = rows.map(({ backup_id, number, mount_point, path }) => ({ backup_id, number, mount_point, path }))
  await sql`insert into backup_file ${sql(columns)} on conflict do nothing`
}

/** Returns false if the backup is gone by now. */
export async function setWritten(
  sql: Sql,
  { backup_id, number }: Pick<FileRow, 'backup_id' | 'number'>,
  written: Written,
  sealedKey: string,
): Promise<boolean> {
  const { archiveBytes, fileBytes, manifest } = written
  const changed = await sql`
    update backup_file set archive_bytes = ${archiveBytes}, file_bytes = ${fileBytes}, entries = ${manifest.entries},
      digest = ${manifest.digest}, sealed_key = ${sealedKey}
    where backup_id = ${backup_id} and number = ${number}`
  return changed.count === 1
}

export const listFiles = (sql: Sql, backupId: string) => sql<FileRow[]>`
  select * from backup_file where backup_id = ${backupId} order by number`

/** Of a backup that could not be made. */
export async function deleteFiles(sql: Sql, backupId: string): Promise<void> {
  await sql`delete from backup_file where backup_id = ${backupId}`
}

/** Files of a backup that went while they were written. */
export async function markErased(sql: Sql, paths: readonly string[]): Promise<void> {
  await sql`insert into erased_backup_file (path) select unnest(${[...paths]}::text[]) on conflict do nothing`
}

export async function listErased(sql: Sql): Promise<string[]> {
  const rows = await sql<{ path: string }[]>`select path from erased_backup_file order by path limit 100`
  return rows.map(({ path }) => path)
}

export async function forgetErased(sql: Sql, path: string): Promise<void> {
  await sql`delete from erased_backup_file where path = ${path}`
}
