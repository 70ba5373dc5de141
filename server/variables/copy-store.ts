import type { Sql } from '../database/index.ts'
import type { NewRow } from './import-store.ts'

const columns = (sql: Sql) => sql`
  v.id, v.project_id, v.environment_id, v.service_id, v.key, v.variable_type, v.is_secret, v.value, v.sealed_value,
  v.mount_path,
  v.description, v.enable_interpolation_in_file, v.base_id, v.base_built_in_id, v.owned_by`

/**
 * Finds the variables of these services, and of the environment if one is passed, with their texts.
 */
export async function findRowsOf(
  sql: Sql,
  serviceIds: readonly string[],
  environmentId: string | null,
): Promise<NewRow[]> {
  return sql<NewRow[]>`
    select ${columns(sql)} from variable v
    where v.service_id = any(${[...serviceIds]}::uuid[]) or v.environment_id = ${environmentId}
    order by v.id`
}

/** Finds the variables with these ids and all their base variables, with their texts. */
export async function findBases(sql: Sql, ids: readonly string[]): Promise<NewRow[]> {
  return sql<NewRow[]>`
    with recursive base (id) as (
      select unnest(${[...ids]}::uuid[])
      union
      select v.base_id from variable v join base b on v.id = b.id where v.base_id is not null
    )
    select ${columns(sql)} from variable v join base b on b.id = v.id`
}

/** Finds the variables of the project itself, with their texts. */
export async function findRowsOfProject(sql: Sql, projectId: string): Promise<NewRow[]> {
  return sql<NewRow[]>`select ${columns(sql)} from variable v where v.project_id = ${projectId} order by v.id`
}
