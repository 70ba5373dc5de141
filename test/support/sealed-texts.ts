import type { Database } from '../../server/database/index.ts'
import { listSealedColumns, type Vault } from '../../server/vault/index.ts'

/**
 * Lists the tables that hold a value sealed with this key, in any column, including inside JSON.
 */
export async function holdersOf(sql: Database, keyId: string): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql`select 1 from ${sql(name)} t where strpos(t::text, ${`v1.${keyId}.`}) > 0 limit 1`
      return rows.length > 0 ? [name] : []
    }),
  )
  return found.flat().sort()
}

/** Returns the id of the key that currently seals for an organization. */
export async function keyIdNow(sql: Database, vault: Vault, organizationId: string): Promise<string> {
  const sealed = await vault.seal(sql, organizationId, { table: 't', row: 'r', column: 'c' }, '')
  return sealed.split('.')[1] ?? ''
}

/**
 * Opens every value of an organization that this key has sealed. Returns their number by table and
 * column.
 */
export async function openAll(
  sql: Database,
  vault: Vault,
  organizationId: string,
  keyId: string,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { table, column, key } of await listSealedColumns(sql)) {
    const rows = await sql<Record<string, string>[]>`
      select ${sql(key)}, ${sql(column)} as sealed from ${sql(table)} where ${sql(column)} like ${`v1.${keyId}.%`}`
    for (const { sealed = '', ...row } of rows) {
      const place = { table, row: key.map((name) => row[name]).join(' '), column }
      await vault.open(sql, organizationId, place, sealed)
    }
    counts[`${table}.${column}`] = rows.length
  }
  return counts
}
