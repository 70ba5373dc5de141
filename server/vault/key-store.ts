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

export async function insertProof(sql: Sql, key: 'vault.canary' | 'vault.pepper', proof: string): Promise<void> {
  await sql`insert into setting (key, value) values (${key}, ${sql.json({ proof })})`
}

export async function replaceProof(sql: Sql, key: 'vault.canary', proof: string): Promise<void> {
  await sql`update setting set value = ${sql.json({ proof })} where key = ${key}`
}

/** Up to so many wrapped data keys that another key than this one has sealed. */
export const listDataKeysNotBy = (sql: Sql, keyId: string, limit: number) =>
  sql<{ id: string; data_key: string }[]>`
    select id, data_key from organization where split_part(data_key, '.', 2) <> ${keyId} limit ${limit}`

export async function replaceDataKey(sql: Sql, organizationId: string, wrapped: string): Promise<void> {
  await sql`update organization set data_key = ${wrapped} where id = ${organizationId}`
}

/** How many sessions other programs of ours have in this database. */
export async function countOtherSessions(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from pg_stat_activity where datname = current_database() and application_name like 'quayside%'
      and application_name <> current_setting('application_name')`
  return row?.count ?? 0
}

export async function hasDataKeys(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from organization where data_key is not null) as found`
  return row?.found === true
}

/** Undefined: no such organization; null: it has no data key yet. */
export async function findDataKey(sql: Sql, organizationId: string): Promise<string | null | undefined> {
  const [row] = await sql<{ data_key: string | null }[]>`
    select data_key from organization where id = ${organizationId}`
  return row?.data_key
}

/**
 * Records the organization's data key unless it has one; gives the one that counts. Two at once: the second waits for the
 * first to commit, and then finds its key.
 */
export async function keepDataKey(sql: Sql, organizationId: string, wrapped: string): Promise<string | undefined> {
  const [row] = await sql<{ data_key: string }[]>`
    update organization set data_key = coalesce(data_key, ${wrapped}) where id = ${organizationId} returning data_key`
  return row?.data_key
}
