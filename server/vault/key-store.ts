import type { Sql } from '../database/index.ts'

/** What the database knows of the keys: proofs that a key file is the right one, and the wrapped data keys. */

/** Waits until no other process sets up keys in this database; held until the transaction ends. */
export async function lockKeySetUp(sql: Sql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('quayside key set-up', 0))`
}

export async function findProof(sql: Sql, key: 'vault.canary' | 'vault.pepper'): Promise<string | undefined> {
  const [row] = await sql<{ proof: string | null }[]>`
    select value ->> 'proof' as proof from setting where key = ${key}`
  return row ? (row.proof ?? '') : undefined
}

/** The proof that counts. It stays so until the transaction ends: whoever replaces it waits, and whoever comes meanwhile gets the new one. */
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

/** Up to so many wrapped data keys that another key than this one has sealed. */
export const listDataKeysNotBy = (sql: Sql, keyId: string, limit: number) =>
  sql<WrappedKey[]>`
    select organization_id, number, wrapped_key from data_key where split_part(wrapped_key, '.', 2) <> ${keyId} limit ${limit}`

export async function replaceDataKey(sql: Sql, { organization_id, number, wrapped_key }: WrappedKey): Promise<void> {
  await sql`
    update data_key set wrapped_key = ${wrapped_key} where organization_id = ${organization_id} and number = ${number}`
}

/** How many sessions servers have in this database whose sessions have another name than this one. */
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

/** The data keys of an organization, wrapped, the one that seals first. */
export const listDataKeys = (sql: Sql, organizationId: string) =>
  sql<WrappedKey[]>`select * from data_key where organization_id = ${organizationId} order by number desc`

/** The one that seals. */
export async function findDataKey(sql: Sql, organizationId: string): Promise<string | undefined> {
  const [row] = await sql<{ wrapped_key: string }[]>`
    select wrapped_key from data_key where organization_id = ${organizationId} order by number desc limit 1`
  return row?.wrapped_key
}

/**
 * Gives the organization the data key of that number unless it has one. Two at once: the second waits for the first to commit, and then
 * finds its key.
 */
export async function keepDataKey(sql: Sql, { organization_id, number, wrapped_key }: WrappedKey): Promise<void> {
  await sql`
    insert into data_key (organization_id, number, wrapped_key)
    select id, ${number}::int, ${wrapped_key} from organization where id = ${organization_id}
    on conflict (organization_id, number) do nothing`
}

/** Those that have another number than the highest. */
export async function deleteFormerKeys(sql: Sql, organizationId: string): Promise<void> {
  await sql`
    delete from data_key where organization_id = ${organizationId}
      and number < (select max(number) from data_key where organization_id = ${organizationId})`
}
