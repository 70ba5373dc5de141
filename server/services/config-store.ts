import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

/** The stored settings, and the engine of the service's cluster: null if it has none. */
export interface StoredSettings {
  readonly advanced_settings: SettingValues
  readonly engine: string | null
}

/** Locks the service for the rest of the transaction. Returns undefined if it is gone. */
export async function lockAdvancedSettings(sql: Sql, serviceId: string): Promise<StoredSettings | undefined> {
  const [row] = await sql<StoredSettings[]>`
    select s.advanced_settings, c.engine from service s join environment e on e.id = s.environment_id
      join cluster c on c.id = e.cluster_id
    where s.id = ${serviceId} for no key update of s`
  return row
}

export async function findAdvancedSettings(sql: Sql, serviceId: string): Promise<SettingValues | undefined> {
  const [row] = await sql<{ advanced_settings: SettingValues }[]>`
    select advanced_settings from service where id = ${serviceId}`
  return row?.advanced_settings
}

export async function storeAdvancedSettings(
  sql: Sql,
  serviceId: string,
  values: SettingValues,
  now: Date,
): Promise<void> {
  await sql`
    update service set advanced_settings = ${sql.json(asJson(values))}, updated_at = ${now}, version = version + 1
    where id = ${serviceId}`
}

/** Records that the service no longer matches its deployed settings. */
export async function raiseConfigVersion(sql: Sql, serviceId: string): Promise<void> {
  await sql`update service set config_version = config_version + 1 where id = ${serviceId}`
}

/** The values came as JSON; the library's JSON type is narrower. */
const asJson = (values: SettingValues) => values as Exclude<Json, undefined>
