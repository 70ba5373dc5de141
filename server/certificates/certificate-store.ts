import type { AcmeChallenge } from '@quayside/contract/routes.ts'
import type { Sql } from '../database/index.ts'
import { securedHosts, uploadedHosts } from '../domains/index.ts'
import type { CertificateFacts } from './state.ts'

// `own` are the names of the platform itself, in each of these questions.

/** A host for which a certificate is due. */
export interface DueHost {
  readonly host: string
  readonly failures: number
}

/**
 * Lists hosts whose certificate must be ordered or renewed, the longest-waiting first. A host whose
 * domain was saved after the last attempt is due too, unless that attempt began after `since`.
 */
export const listDueHosts = (
  sql: Sql,
  own: readonly string[],
  { now, since }: { readonly now: Date; readonly since: Date },
) =>
  sql<DueHost[]>`
    select w.host, coalesce(h.failures, 0) as failures
    from (${securedHosts(sql, own)}) w left join host_certificate h on h.host = w.host
    where h.host is null or h.due_at <= ${now}
      or (h.finding is not null and h.tried_at < w.saved_at and h.tried_at < ${since})
    order by h.due_at nulls first, w.host`

/** Records that an attempt begins. It is due again at `dueAt` if it never ends. */
export const beginAttempt = async (sql: Sql, host: string, now: Date, dueAt: Date): Promise<void> =>
  void (await sql`
    insert into host_certificate ${sql({ host, tried_at: now, due_at: dueAt, updated_at: now })}
    on conflict (host) do update set tried_at = excluded.tried_at, due_at = excluded.due_at`)

export const setChallenge = async (sql: Sql, { host, token, answer }: AcmeChallenge, now: Date): Promise<void> =>
  void (await sql`
    update host_certificate set challenge_token = ${token}, challenge_answer = ${answer}, updated_at = ${now}
    where host = ${host}`)

/** A certificate to store. */
export interface StoredCertificate {
  readonly host: string
  readonly chain: string
  readonly sealed_key: string
  readonly not_before: Date
  readonly not_after: Date
  readonly due_at: Date
}

export const storeCertificate = async (sql: Sql, { host, ...rest }: StoredCertificate, now: Date): Promise<void> =>
  void (await sql`
    update host_certificate set ${sql({ ...rest, failures: 0, finding: null, updated_at: now })},
      challenge_token = null, challenge_answer = null
    where host = ${host}`)

/** A failed attempt. */
export interface StoredFailure extends DueHost {
  readonly finding: string
  readonly due_at: Date
}

export const storeFailure = async (sql: Sql, { host, ...rest }: StoredFailure, now: Date): Promise<void> =>
  void (await sql`
    update host_certificate set ${sql({ ...rest, updated_at: now })}, challenge_token = null, challenge_answer = null
    where host = ${host}`)

/**
 * Deletes records of hosts that left the table, once they have no certificate that is still valid.
 */
export const deleteLeft = async (sql: Sql, own: readonly string[], now: Date): Promise<void> =>
  void (await sql`
    delete from host_certificate h
    where coalesce(h.not_after, h.updated_at) < ${now} and h.due_at < ${now}
      and h.host not in (select host from (${securedHosts(sql, own)}) w)`)

/** The certificate of a host of the table. Null members: nothing was tried yet. */
export interface HostRow extends CertificateFacts {
  readonly host: string
  readonly is_known: boolean
}

/** Lists the hosts of the table that have uploaded certificates, with the ends of those. */
export const listUploadedHosts = (sql: Sql) =>
  sql<{ readonly host: string; readonly not_after: Date }[]>`select host, not_after from (${uploadedHosts(sql)}) u`

/** Lists the hosts of the table with the states of their ordered certificates. */
export const listHosts = (sql: Sql, own: readonly string[]) =>
  sql<HostRow[]>`
    select w.host, h.host is not null as is_known, h.not_after, h.tried_at, h.finding, h.due_at
    from (${securedHosts(sql, own)}) w left join host_certificate h on h.host = w.host`

/** Returns a text that differs if the certificates or challenges of the table do. */
export async function readMark(sql: Sql, own: readonly string[]): Promise<string> {
  const [row] = await sql<{ mark: string | null }[]>`
    select sum(hashtextextended(concat_ws(' ', one.host, one.at, one.sealed_key, one.token), 0))::text as mark from (
      select h.host, h.updated_at as at, h.sealed_key, h.challenge_token as token
      from host_certificate h join (${securedHosts(sql, own)}) w on w.host = h.host
      union all select u.host, u.uploaded_at, u.sealed_key::text, null from (${uploadedHosts(sql)}) u) one`
  return row?.mark ?? ''
}

/** A host with a certificate or a challenge. */
export interface SealedCertificate {
  readonly host: string
  readonly chain: string | null
  readonly sealed_key: string | null
  readonly challenge_token: string | null
  readonly challenge_answer: string | null
}

export const listCertificates = (sql: Sql, own: readonly string[]) =>
  sql<SealedCertificate[]>`
    select h.host, h.chain, h.sealed_key, h.challenge_token, h.challenge_answer
    from host_certificate h join (${securedHosts(sql, own)}) w on w.host = h.host
    where h.chain is not null or h.challenge_token is not null order by h.host`

/** An uploaded certificate of a host of the table. */
export interface SealedUpload {
  readonly host: string
  readonly organization_id: string
  readonly custom_domain_id: string
  readonly chain: string
  readonly sealed_key: string
}

export const listUploads = (sql: Sql) =>
  sql<SealedUpload[]>`
    select host, organization_id, custom_domain_id, chain, sealed_key from (${uploadedHosts(sql)}) u order by host`
