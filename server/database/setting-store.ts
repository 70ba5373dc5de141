import type { Json } from '../lib/json.ts'
import type { Sql } from './database.ts'

/** Reads a setting of the platform itself. The caller knows the type of its value. */
export async function readSetting<T extends Json>(sql: Sql, key: string): Promise<T | undefined> {
  const [row] = await sql<{ value: T }[]>`select value from setting where key = ${key}`
  return row?.value
}

export async function writeSetting(sql: Sql, key: string, value: Json): Promise<void> {
  await sql`
    insert into setting (key, value) values (${key}, ${sql.json(value)})
    on conflict (key) do update set value = excluded.value`
}

/** Whether a server has used the database. Each start stores its settings after the migrations. */
export async function isUsed(sql: Sql): Promise<boolean> {
  const [table] = await sql<{ there: boolean }[]>`select to_regclass('setting') is not null as there`
  return table?.there === true && (await sql`select from setting limit 1`).length > 0
}

/** Writes the value unless one exists. Returns the stored value. */
export async function settingOr<T extends Json>(sql: Sql, key: string, fallback: T): Promise<T> {
  await sql`insert into setting (key, value) values (${key}, ${sql.json(fallback)}) on conflict (key) do nothing`
  return (await readSetting<T>(sql, key)) ?? fallback
}
