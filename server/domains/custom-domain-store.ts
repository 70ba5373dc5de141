import type { Sql } from '../database/index.ts'

export interface CustomDomainValues {
  /** Lower case. */
  readonly domain: string
  readonly generate_certificate: boolean
  readonly use_cdn: boolean
}
export interface CustomDomainRow extends CustomDomainValues {
  readonly id: string
  readonly service_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

export const listCustomDomains = (sql: Sql, serviceId: string) =>
  sql<CustomDomainRow[]>`select * from custom_domain where service_id = ${serviceId} order by created_at, id`

export async function findCustomDomain(sql: Sql, serviceId: string, id: string): Promise<CustomDomainRow | undefined> {
  const [row] = await sql<CustomDomainRow[]>`select * from custom_domain where id = ${id} and service_id = ${serviceId}`
  return row
}

/** Locks the service, so that its routes and the count stay true until the transaction ends. */
export async function countCustomDomains(sql: Sql, serviceId: string): Promise<number> {
  await sql`select from service where id = ${serviceId} for no key update`
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from custom_domain where service_id = ${serviceId}`
  return row?.count ?? 0
}

export async function insertCustomDomain(
  sql: Sql,
  row: CustomDomainValues & { readonly id: string; readonly service_id: string },
  now: Date,
): Promise<void> {
  const { id, service_id, domain, generate_certificate, use_cdn } = row
  const times = { created_at: now, updated_at: now }
  await sql`insert into custom_domain ${sql({ id, service_id, domain, generate_certificate, use_cdn, ...times })}`
}

export async function updateCustomDomain(sql: Sql, id: string, values: CustomDomainValues, now: Date): Promise<void> {
  await sql`
    update custom_domain set domain = ${values.domain}, generate_certificate = ${values.generate_certificate},
      use_cdn = ${values.use_cdn}, updated_at = ${now} where id = ${id}`
}

/** Its route goes with it. */
export async function deleteCustomDomain(sql: Sql, id: string): Promise<void> {
  await sql`delete from custom_domain where id = ${id}`
}
