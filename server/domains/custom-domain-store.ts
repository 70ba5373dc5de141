import type { HostCertificate } from '@quayside/contract/routes.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { ProofState } from './proof.ts'

export interface CustomDomainValues {
  /** The name as `parseDomain` returns it. */
  readonly domain: string
  readonly generate_certificate: boolean
  readonly use_cdn: boolean
}
/** The certificate that a user uploaded for a domain. Null members: there is none. */
export interface UploadedColumns {
  readonly uploaded_issuer: string | null
  readonly uploaded_fingerprint: string | null
  readonly uploaded_not_before: Date | null
  readonly uploaded_not_after: Date | null
  readonly uploaded_at: Date | null
}
export interface CustomDomainRow extends CustomDomainValues, ProofState, UploadedColumns {
  /** The certificate of its routes. Null: it has none. */
  readonly certificate: HostCertificate | null
  readonly id: string
  readonly organization_id: string
  readonly asked_at: Date | null
  readonly service_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = (sql: Sql) => sql`
  d.*, (select r.certificate from route r where r.custom_domain_id = d.id order by r.path limit 1) as certificate,
  u.issuer as uploaded_issuer, u.fingerprint as uploaded_fingerprint, u.not_before as uploaded_not_before,
  u.not_after as uploaded_not_after, u.uploaded_at
  from custom_domain d left join uploaded_certificate u on u.custom_domain_id = d.id`

export const listCustomDomains = (sql: Sql, serviceId: string) =>
  sql<CustomDomainRow[]>`
    select ${columns(sql)} where d.service_id = ${serviceId} order by d.created_at, d.id`

export async function findCustomDomain(sql: Sql, serviceId: string, id: string): Promise<CustomDomainRow | undefined> {
  const [row] = await sql<CustomDomainRow[]>`
    select ${columns(sql)} where d.id = ${id} and d.service_id = ${serviceId}`
  return row
}

/** Locks the service, so its routes and custom domains do not change during the transaction. */
export const lockOwner = async (sql: Sql, serviceId: string): Promise<void> =>
  void (await sql`select from service where id = ${serviceId} for no key update`)

export async function insertCustomDomain(
  sql: Sql,
  row: CustomDomainValues &
    ProofState & { readonly id: string; readonly service_id: string; readonly organization_id: string },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'serviceDomains', row.service_id)
  await takeRoom(sql, 'domains', row.organization_id)
  await sql`insert into custom_domain ${sql({ ...row, created_at: now, updated_at: now })}`
}

export async function updateCustomDomain(
  sql: Sql,
  id: string,
  values: CustomDomainValues & ProofState,
  now: Date,
): Promise<void> {
  await sql`update custom_domain set ${sql({ ...values, updated_at: now })} where id = ${id}`
}

/** Deletes a custom domain with its route. */
export async function deleteCustomDomain(sql: Sql, id: string): Promise<void> {
  await sql`delete from custom_domain where id = ${id}`
}
