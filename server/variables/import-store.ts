import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

/** A whole row without its times. It has exactly one owner. */
export interface NewRow {
  readonly id: string
  readonly project_id: string | null
  readonly environment_id: string | null
  readonly service_id: string | null
  readonly key: string
  readonly variable_type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  readonly is_secret: boolean
  readonly value: string | null
  readonly sealed_value: string | null
  readonly mount_path: string | null
  readonly description: string
  readonly enable_interpolation_in_file: boolean
  readonly base_id: string | null
  readonly base_built_in_id: string | null
  readonly owned_by: string
}

/** Counts rows by the project, environment or service that they belong to, in a fixed order. */
export function countByOwner(rows: readonly NewRow[]): readonly (readonly [owner: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const owner = row.project_id ?? row.environment_id ?? row.service_id
    if (owner !== null) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** Inserts all rows with one statement, because a row may come before its base. */
export async function insertRows(sql: Sql, rows: readonly NewRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  await sql`
    insert into variable (id, project_id, environment_id, service_id, created_at, updated_at, key, variable_type,
    is_secret,
      value, sealed_value, mount_path, description, enable_interpolation_in_file, base_id, base_built_in_id, owned_by)
    select r.id, r.project_id, r.environment_id, r.service_id, ${now}, ${now}, r.key, r.variable_type, r.is_secret,
      r.value, r.sealed_value, r.mount_path, r.description, r.enable_interpolation_in_file, r.base_id,
      r.base_built_in_id, r.owned_by
    from jsonb_to_recordset(${asJson(sql, rows)}) as r (id uuid, project_id uuid, environment_id uuid, service_id uuid,
      key text, variable_type text, is_secret boolean, value text, sealed_value text, mount_path text, description text,
      enable_interpolation_in_file boolean, base_id uuid, base_built_in_id uuid, owned_by text)`
}

/** A new text of a row, in exactly one of the two columns. */
export async function updateTexts(
  sql: Sql,
  rows: readonly { readonly id: string; readonly value: string | null; readonly sealed_value: string | null }[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    update variable v set value = r.value, sealed_value = r.sealed_value, updated_at = ${now}, version = v.version + 1
    from jsonb_to_recordset(${asJson(sql, rows)}) as r (id uuid, value text, sealed_value text)
    where v.id = r.id`
}

/** Casts rows, which are plain JSON, because the library's JSON type does not accept interfaces. */
const asJson = (sql: Sql, rows: readonly object[]) => sql.json(rows as unknown as Exclude<Json, undefined>)

/** Locks rows against changes and deletion until the transaction ends. */
export async function lockRows(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`select from variable where id = any(${[...ids]}::uuid[]) order by id for no key update`
}
