import type { Sql } from '../database/index.ts'

export interface StoredOutput {
  readonly id: string
  readonly service_id: string
  readonly key: string
  readonly description: string
  readonly is_secret: boolean
  readonly value: string | null
  readonly sealed_value: string | null
}

/** Finds the outputs and locks them for the rest of the transaction. */
export const findOutputs = (sql: Sql, serviceId: string) =>
  sql<StoredOutput[]>`
    select id, service_id, key, description, is_secret, value, sealed_value from service_output
    where service_id = ${serviceId} order by key for update`

export async function saveOutput(sql: Sql, row: StoredOutput, now: Date): Promise<void> {
  await sql`
    insert into service_output ${sql({ ...row, created_at: now, updated_at: now })}
    on conflict (service_id, key) do update set value = excluded.value, sealed_value = excluded.sealed_value,
      is_secret = excluded.is_secret, description = excluded.description, updated_at = excluded.updated_at`
}

export async function deleteOthers(sql: Sql, serviceId: string, keys: readonly string[]): Promise<void> {
  await sql`delete from service_output where service_id = ${serviceId} and key <> all(${[...keys]}::text[])`
}

/** Marks every other service of the environment as out of date. */
export async function outdateOthers(sql: Sql, environmentId: string, serviceId: string): Promise<void> {
  await sql`
    update service set config_version = config_version + 1 where id in (
      select id from service where environment_id = ${environmentId} and id <> ${serviceId}
      order by id for no key update)`
}
