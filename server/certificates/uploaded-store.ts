import type { Sql } from '../database/index.ts'

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

/** Counts the uploaded certificates of an organization without the one of a domain. */
export async function countOtherUploads(sql: Sql, { id, organization_id }: UploadDomain): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from uploaded_certificate u join custom_domain d on d.id = u.custom_domain_id
    where d.organization_id = ${organization_id} and d.id <> ${id}`
  return row?.count ?? 0
}

/** An uploaded certificate to store. */
export interface StoredUpload {
  readonly custom_domain_id: string
  readonly chain: string
  readonly sealed_key: string
  readonly issuer: string
  readonly fingerprint: string
  readonly not_before: Date
  readonly not_after: Date
  readonly uploaded_at: Date
}

/** Stores an uploaded certificate. Replaces the previous one of the domain. */
export const storeUpload = async (sql: Sql, row: StoredUpload): Promise<void> =>
  void (await sql`
    insert into uploaded_certificate ${sql({ ...row })}
    on conflict (custom_domain_id) do update set chain = excluded.chain, sealed_key = excluded.sealed_key,
      issuer = excluded.issuer, fingerprint = excluded.fingerprint, not_before = excluded.not_before,
      not_after = excluded.not_after, uploaded_at = excluded.uploaded_at`)

/** Returns whether the domain had an uploaded certificate. */
export async function deleteUpload(sql: Sql, customDomainId: string): Promise<boolean> {
  const { count } = await sql`delete from uploaded_certificate where custom_domain_id = ${customDomainId}`
  return count > 0
}
