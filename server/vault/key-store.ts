import type { Sql } from '../database/index.ts'

/**
 * The database's records of keys: proofs that identify the right key file, and the wrapped data
 * keys.
 */

/** Takes the lock for setting up keys in this database and holds it until the transaction ends. */
export async function lockKeySetUp(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('quayside key set-up', 0))`
}

export async function findProof(sql: Sql, key: 'vault.canary' | 'vault.pepper'): Promise<string | undefined> {
  const [row] = await sql<{ proof: string | null }[]>`
    select value ->> 'proof' as proof from setting where key = ${key}`
  return row ? (row.proof ?? '') : undefined
}

/**
 * Finds the valid proof and locks it until the transaction ends. A replacement waits, and later
 * readers see the new proof.
 */
export async function holdProof(sql: Sql, key: 'vault.canary'): Promise<string | undefined> {
  const [row] = await sql<{ proof: string | null }[]>`
    select value ->> 'proof' as proof from setting where key = ${key} for share`
  return row?.proof ?? undefined
}

export async function insertProof(sql: Sql, key: 'vault.canary' | 'vault.pepper', proof: string): Promise<void> {
  await sql`insert into setting (key, value) values (${key}, ${sql.json({ proof })})`
}

export async function replaceProof(sql: Sql, key: 'vault.canary', proof: string): Promise<void> {
  await sql`update setting set value = ${sql.json({ proof })} where key = ${key}`
}

export interface WrappedKey {
  readonly organization_id: string
  readonly number: number
  readonly wrapped_key: string
}

/** Lists at most this many wrapped data keys that are sealed by a different master key. */
export const listDataKeysNotBy = (sql: Sql, keyId: string, limit: number) =>
  sql<WrappedKey[]>`
    select organization_id, number, wrapped_key from data_key where split_part(wrapped_key, '.', 2) <> ${keyId}
    limit ${limit}`

export async function replaceDataKey(sql: Sql, { organization_id, number, wrapped_key }: WrappedKey): Promise<void> {
  await sql`
    update data_key set wrapped_key = ${wrapped_key} where organization_id = ${organization_id} and number = ${number}`
}

/** Counts the sessions of servers in this database with a different session name. */
export async function countSessionsOfOthers(sql: Sql, name: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from pg_stat_activity where datname = current_database()
      and application_name ~ '^quayside( [0-9a-f]{8})?$' and application_name <> ${name}`
  return row?.count ?? 0
}

export async function hasDataKeys(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from data_key) as found`
  return row?.found === true
}

/** Lists the wrapped data keys of an organization, the sealing one first. */
export const listDataKeys = (sql: Sql, organizationId: string) =>
  sql<WrappedKey[]>`select * from data_key where organization_id = ${organizationId} order by number desc`

/** Finds the key that seals. */
export async function findDataKey(sql: Sql, organizationId: string): Promise<string | undefined> {
  const [row] = await sql<{ wrapped_key: string }[]>`
    select wrapped_key from data_key where organization_id = ${organizationId} order by number desc limit 1`
  return row?.wrapped_key
}

/**
 * Stores the organization's data key of that number unless it has one. A concurrent second call
 * waits for the first to commit and then finds its key.
 */
export async function keepDataKey(sql: Sql, { organization_id, number, wrapped_key }: WrappedKey): Promise<void> {
  await sql`
    insert into data_key (organization_id, number, wrapped_key)
    select id, ${number}::int, ${wrapped_key} from organization where id = ${organization_id}
    on conflict (organization_id, number) do nothing`
}

/** Lists the keys with a number below the highest. */
export async function deleteFormerKeys(sql: Sql, organizationId: string): Promise<void> {
  await sql`
    delete from data_key where organization_id = ${organizationId}
      and number < (select max(number) from data_key where organization_id = ${organizationId})`
}
