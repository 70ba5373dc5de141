import type { Sql } from '../database/index.ts'

export interface SecretRow {
  readonly name: string
  readonly sealed_value: string
}

export const listServiceSecrets = (sql: Sql, serviceId: string) =>
  sql<SecretRow[]>`select name, sealed_value from service_secret where service_id = ${serviceId} order by name`

/** Removes the secrets with any other name. */
export async function keepServiceSecrets(sql: Sql, serviceId: string, names: readonly string[]): Promise<void> {
  await sql`delete from service_secret where service_id = ${serviceId} and name <> all(${[...names]}::text[])`
}

export async function deleteServiceSecret(sql: Sql, serviceId: string, name: string): Promise<void> {
  await sql`delete from service_secret where service_id = ${serviceId} and name = ${name}`
}

export async function putServiceSecret(sql: Sql, serviceId: string, row: SecretRow, now: Date): Promise<void> {
  await sql`
    insert into service_secret (service_id, created_at, updated_at, name, sealed_value)
    values (${serviceId}, ${now}, ${now}, ${row.name}, ${row.sealed_value})
    on conflict (service_id, name) do update set sealed_value = excluded.sealed_value, updated_at = excluded.updated_at`
}
