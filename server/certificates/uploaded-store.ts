import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

/** A custom domain that an upload belongs to. Its row is locked. */
export interface UploadDomain {
  readonly id: string
  readonly domain: string
  readonly organization_id: string
}

/** Locks a custom domain of a service. Undefined if the service has no such domain. */
export async function lockUploadDomain(sql: Sql, serviceId: string, id: string): Promise<UploadDomain | undefined> {
  const [row] = await sql<UploadDomain[]>`
    select id, domain, organization_id from custom_domain where id = ${id} and service_id = ${serviceId}
    for no key update`
  return row
}

/** An uploaded certificate to store. */
export interface StoredUpload {
  readonly chain: string
  readonly sealed_key: string
  readonly issuer: string
  readonly fingerprint: string
  readonly not_before: Date
  readonly not_after: Date
  readonly uploaded_at: Date
}

/** Stores an uploaded certificate. Replaces the previous one of the domain, which is locked. */
export async function storeUpload(sql: Sql, { id, organization_id }: UploadDomain, row: StoredUpload): Promise<void> {
  const [previous] = await sql`select from uploaded_certificate where custom_domain_id = ${id}`
  if (!previous) await takeRoom(sql, 'certificates', organization_id)
  await sql`
    insert into uploaded_certificate ${sql({ ...row, custom_domain_id: id })}
    on conflict (custom_domain_id) do update set chain = excluded.chain, sealed_key = excluded.sealed_key,
      issuer = excluded.issuer, fingerprint = excluded.fingerprint, not_before = excluded.not_before,
      not_after = excluded.not_after, uploaded_at = excluded.uploaded_at`
}

/** Returns whether the domain had an uploaded certificate. */
export async function deleteUpload(sql: Sql, customDomainId: string): Promise<boolean> {
  const { count } = await sql`delete from uploaded_certificate where custom_domain_id = ${customDomainId}`
  return count > 0
}
