import type { BackupState, ProofState, RestoreState } from '@quayside/contract/resources/backup.ts'
import type { Fragment, Sql } from '../database/index.ts'

export interface BackupRow {
  readonly id: string
  readonly service_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly message: string
  readonly data_version: string | null
  readonly state: BackupState
  readonly reason: string | null
  readonly proof_id: string | null
  readonly proof_state: ProofState
  readonly proof_at: Date | null
  readonly proof_reason: string | null
  readonly restore_state: RestoreState
  readonly restore_at: Date | null
  readonly restore_reason: string | null
}

/** With what its files are together. */
export interface ListedBackup extends BackupRow {
  readonly size_in_bytes: number
  readonly entries: number
}

type NewBackup = Pick<BackupRow, 'id' | 'service_id' | 'name' | 'message' | 'state'> & { readonly now: Date }

/** Records the version of a database's data; does nothing if it is already recorded. */
export async function insertBackup(sql: Sql, { now, ...row }: NewBackup): Promise<void> {
  await sql`
    insert into backup (id, service_id, created_at, updated_at, name, message, state, data_version)
    select ${row.id}, s.id, ${now}, ${now}, ${row.name}, ${row.message}, ${row.state}, s.data_version
    from service s where s.id = ${row.service_id} on conflict (id) do nothing`
}

const listed = (sql: Sql) => sql`
  select b.*, f.size_in_bytes, f.entries from backup b cross join lateral (
    select coalesce(sum(file_bytes), 0)::bigint as size_in_bytes, coalesce(sum(entries), 0)::bigint as entries
    from backup_file where backup_id = b.id) f`

/** Lists the backups of a service, newest first, after a given one. */
export const listBackups = (
  sql: Sql,
  serviceId: string,
  { count, behind }: { readonly count: number; readonly behind?: string | undefined },
) => sql<ListedBackup[]>`
  ${listed(sql)} where b.service_id = ${serviceId} ${
    behind === undefined
      ? sql``
      : sql`and (b.created_at, b.id) < (select created_at, id from backup where id = ${behind})`
  } order by b.created_at desc, b.id desc limit ${count}`

export async function findListed(sql: Sql, serviceId: string, id: string): Promise<ListedBackup | undefined> {
  const [row] = await sql<ListedBackup[]>`${listed(sql)} where b.id = ${id} and b.service_id = ${serviceId}`
  return row
}

export async function findBackup(sql: Sql, id: string): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`select * from backup where id = ${id}`
  return row
}

/** Locked against other changes for the rest of the transaction. */
export async function lockBackup(sql: Sql, serviceId: string, id: string): Promise<BackupRow | undefined> {
  const [row] = await sql<BackupRow[]>`
    select * from backup where id = ${id} and service_id = ${serviceId} for no key update`
  return row
}

/** Returns when a backup of the service was last proven by a restore. */
export async function lastProven(sql: Sql, serviceId: string): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select max(proof_at) as at from backup where service_id = ${serviceId} and proof_state = 'PROVEN'`
  return row?.at ?? null
}

/** Whether a backup of the service is waiting or being made. */
export async function isBeingMade(sql: Sql, serviceId: string): Promise<boolean> {
  const rows = await sql`
    select from backup where service_id = ${serviceId} and state in ('QUEUED', 'RUNNING') limit 1`
  return rows.length === 1
}

export type BackupChange = Partial<Omit<BackupRow, 'id' | 'service_id' | 'created_at' | 'updated_at'>>

/** Returns false if the backup is gone. */
export async function updateBackup(sql: Sql, id: string, change: BackupChange, now: Date): Promise<boolean> {
  const changed = await sql`update backup set ${sql({ ...change, updated_at: now })} where id = ${id}`
  return changed.count === 1
}

export async function deleteBackup(sql: Sql, id: string): Promise<void> {
  await sql`delete from backup where id = ${id}`
}

/** Lists all finished backups, newest first, to find those to remove. */
export const listEnded = (sql: Sql, serviceId: string) => sql<BackupRow[]>`
  select * from backup where service_id = ${serviceId} and state in ('SUCCEEDED', 'FAILED')
  order by created_at desc, id desc`

/** The ids of unfinished workflows, as parts of statements. */
export const unfinishedBackups = (sql: Sql): Fragment => sql`select id from backup where state in ('QUEUED', 'RUNNING')`
export const unfinishedProofs = (sql: Sql): Fragment => sql`select proof_id from backup where proof_id is not null`

/** Whether a service id belongs to a backup that is being proven. */
export async function isScratch(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from backup where proof_id = ${id}`
  return rows.length === 1
}
