import type { Fragment, Sql } from '../database/index.ts'

/** The last rotation of an organization's keys. `id` is the id of its workflow. */
export interface RotationRow {
  readonly organization_id: string
  readonly id: string
  readonly former_keys: readonly string[]
  readonly started_at: Date
  readonly ended_at: Date | null
  readonly failure: string | null
}

/** Returns false if a rotation is in progress. A concurrent second call waits for the first. */
export async function insertRotation(
  sql: Sql,
  { organization_id, id, started_at }: Pick<RotationRow, 'organization_id' | 'id' | 'started_at'>,
): Promise<boolean> {
  const rows = await sql`
    insert into key_rotation ${sql({ organization_id, id, started_at })}
    on conflict (organization_id) do update
    set id = excluded.id, former_keys = '{}', started_at = excluded.started_at, ended_at = null, failure = null
    where key_rotation.ended_at is not null returning id`
  return rows.length > 0
}

export async function setFormerKeys(sql: Sql, id: string, formerKeys: readonly string[]): Promise<void> {
  await sql`update key_rotation set former_keys = ${[...formerKeys]}::text[] where id = ${id}`
}

export async function findRotation(sql: Sql, organizationId: string): Promise<RotationRow | undefined> {
  const [row] = await sql<RotationRow[]>`select * from key_rotation where organization_id = ${organizationId}`
  return row
}

/** `failure` says why previous keys had to be kept. */
export async function endRotation(sql: Sql, id: string, now: Date, failure: string | null): Promise<void> {
  await sql`
    update key_rotation set ended_at = ${now}, failure = ${failure} where id = ${id} and ended_at is null`
}

/** The ids of rotations in progress, as a part of a statement. */
export const unfinishedRotations = (sql: Sql): Fragment => sql`select id from key_rotation where ended_at is null`

export const listOrganizations = (sql: Sql) => sql<{ id: string }[]>`select id from organization order by id`

/** The current time in the database's own text form. */
export async function findMoment(sql: Sql): Promise<string> {
  const [row] = await sql<{ moment: string }[]>`select clock_timestamp()::text as moment`
  return row?.moment ?? ''
}

/** Whether a transaction of any process is open that began before the moment. */
export async function hasOlderTransaction(sql: Sql, moment: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
        and pid <> pg_backend_pid() and xact_start <= ${moment}::timestamptz) as found`
  return row?.found === true
}
