import type { ChallengeKind } from '@quayside/contract/routes.ts'
import type { Sql } from '../database/index.ts'
import { type SecuredPlace, securedHosts, uploadedHosts } from '../domains/index.ts'
import type { HostProof, ProofKind } from './authority.ts'
import { clockToleranceMs, type Made, moved } from './policy.ts'
import type { CertificateFacts } from './state.ts'

/** The names of which these questions are. */
export interface CertificateScope {
  /** The names of the platform itself. */
  readonly own: readonly string[]
  /**
   * The domain below which names with one more label share the certificate of `*.<domain>`. Null:
   * DNS is not used, and each host has a certificate of its own. Never shared with clusters, whose
   * people could read its key: theirs are wildcards of their own domains.
   */
  readonly shared: string | null
  /** The routers whose hosts are meant. */
  readonly at: SecuredPlace
}

/**
 * A query of the hosts with ordered certificates. `name` is the name of the certificate: the host
 * itself, the wildcard of the shared domain, or that of the domain of its cluster if DNS lets the
 * platform prove it. `wildcard` is a wildcard with which the host can be served, if it is one label
 * below such a domain.
 */
const named = (sql: Sql, { own, shared, at }: CertificateScope) => sql`
  select s.host, s.organization, s.saved_at, s.place, w.wildcard,
    case when ${shared}::text is not null and (s.place is null or k.wildcard_domain = k.traffic_domain)
      then coalesce(w.wildcard, s.host) else s.host end as name
  from (${securedHosts(sql, own, at)}) s left join cluster k on k.id = s.place
    cross join lateral (select '.' || case when s.place is null then ${shared}::text else k.traffic_domain end
      as suffix) below
    left join lateral (select '*' || below.suffix || coalesce('/' || s.place, '') as wildcard
      where right(s.host, length(below.suffix)) = below.suffix
        and left(s.host, -length(below.suffix)) ~ '^[^.*]+$') w on true`

/**
 * A query of the names for which certificates are ordered. `organization` is the one that has the
 * name, or null if it is shared or the platform's own.
 */
const ordered = (sql: Sql, scope: CertificateScope) => sql`
  select n.name as host, max(n.saved_at) as saved_at, min(n.place::text) as place,
    min(n.organization::text) filter (where n.name = n.host) as organization
  from (${named(sql, scope)}) n group by n.name`

/** A host for which a certificate is due. */
export interface DueHost {
  readonly host: string
  readonly failures: number
  /** How the next attempt proves the host. Null: as the last certificate of any host was proven. */
  readonly challenge_kind: ProofKind | null
  /** The certificate that is there. */
  readonly chain: string | null
  /** The proof of an attempt that did not end, if any. */
  readonly left_token: string | null
  readonly left_answer: string | null
  /** The id of the cluster whose routers serve the host. Null: the router of this machine. */
  readonly place: string | null
  /** The id of the organization that has the host. Null: the platform, or several share it. */
  readonly organization: string | null
}

/**
 * Lists hosts whose certificate must be ordered or renewed, the longest-waiting first. A host whose
 * domain was saved after the last attempt is due too, unless that attempt began after `since`. An
 * attempt that is in the future began while the clock was ahead, and does not count.
 */
export const listDueHosts = (
  sql: Sql,
  scope: CertificateScope,
  { now, since }: { readonly now: Date; readonly since: Date },
) =>
  sql<DueHost[]>`
    select w.host, coalesce(h.failures, 0) as failures, h.challenge_kind, h.chain, h.challenge_token as left_token,
      h.challenge_answer as left_answer, w.place, w.organization
    from (${ordered(sql, scope)}) w left join host_certificate h on h.host = w.host
    where h.host is null or h.due_at <= ${now} or h.tried_at > ${moved(now, clockToleranceMs)}
      or (h.finding is not null and h.tried_at < w.saved_at and h.tried_at < ${since})
    order by h.due_at nulls first, w.host`

/** Returns how the newest certificate of any host was proven. Undefined without one. */
export async function lastProvenKind(sql: Sql): Promise<ChallengeKind | undefined> {
  const [row] = await sql<{ challenge_kind: ChallengeKind }[]>`
    select challenge_kind from host_certificate
    where challenge_kind <> 'dns-01' and failures = 0 and finding is null and chain is not null
    order by updated_at desc limit 1`
  return row?.challenge_kind
}

/** An attempt that begins. It is due again at `due_at` if it never ends. */
export interface Attempt {
  readonly host: string
  readonly challenge_kind: ProofKind
  readonly tried_at: Date
  readonly due_at: Date
}

export const beginAttempt = async (sql: Sql, attempt: Attempt): Promise<void> =>
  void (await sql`
    insert into host_certificate ${sql({ ...attempt, updated_at: attempt.tried_at })}
    on conflict (host) do update set tried_at = excluded.tried_at, due_at = excluded.due_at,
      challenge_kind = excluded.challenge_kind`)

/** A proof of an attempt. */
export interface AttemptProof extends Omit<HostProof, 'host'> {
  /** The name of the certificate. */
  readonly name: string
  /** When the attempt began. */
  readonly triedAt: Date
}

/** Stores the proof of an attempt. Returns whether it is still the last attempt of its name. */
export async function setChallenge(
  sql: Sql,
  { kind, name, token, answer, triedAt }: AttemptProof,
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update host_certificate set challenge_kind = ${kind}, challenge_token = ${token}, challenge_answer = ${answer},
      updated_at = ${now}
    where host = ${name} and tried_at = ${triedAt}`
  return count > 0
}

/**
 * A proof at the router ends with its attempt. One in DNS stays known until its record is removed.
 */
const routerProofGone = (sql: Sql) => sql`
  challenge_token = case when challenge_kind = 'dns-01' then challenge_token end,
  challenge_answer = case when challenge_kind = 'dns-01' then challenge_answer end`

/** Forgets a proof of a host, because its record in DNS is removed. A later proof stays. */
export const clearChallenge = async (sql: Sql, host: string, answer: string): Promise<void> =>
  void (await sql`
    update host_certificate set challenge_token = null, challenge_answer = null
    where host = ${host} and challenge_answer = ${answer}`)

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
    update host_certificate set ${sql({ ...rest, failures: 0, finding: null, window_ask_at: null, updated_at: now })},
      ${routerProofGone(sql)}
    where host = ${host}`)

/** A valid certificate for whose renewal window the authority may be asked. */
type Askable = Pick<StoredCertificate, 'host' | 'chain'> & Made

/** Lists valid certificates for whose renewal windows the authority should be asked. */
export const listAskable = (
  sql: Sql,
  scope: CertificateScope,
  { now, most }: { readonly now: Date; readonly most: number },
) =>
  sql<Askable[]>`
    select h.host, h.chain, h.not_before as "notBefore", h.not_after as "notAfter",
      coalesce(h.tried_at, h.not_before) as "orderedAt"
    from host_certificate h join (${ordered(sql, scope)}) w on w.host = h.host
    where h.chain is not null and h.finding is null and h.not_after > ${now} and h.due_at > ${now}
      and coalesce(h.window_ask_at, ${now}) <= ${now}
    order by h.window_ask_at nulls first, h.host limit ${most}`

/** Stores when a certificate is renewed, if known, and when the authority is asked again. */
export const storeWindow = async (
  sql: Sql,
  { host, due_at, ask_at }: { readonly host: string; readonly due_at: Date | null; readonly ask_at: Date },
): Promise<void> =>
  void (await sql`
    update host_certificate set due_at = coalesce(${due_at}, due_at), window_ask_at = ${ask_at}
    where host = ${host} and finding is null`)

/** A failed attempt. */
export interface StoredFailure extends Pick<DueHost, 'host' | 'failures' | 'challenge_kind'> {
  readonly finding: string
  readonly due_at: Date
}

export const storeFailure = async (sql: Sql, { host, ...rest }: StoredFailure, now: Date): Promise<void> =>
  void (await sql`
    update host_certificate set ${sql({ ...rest, updated_at: now })}, ${routerProofGone(sql)}
    where host = ${host}`)

/**
 * Deletes records of hosts that left the table, once they have no certificate that is still valid.
 */
export const deleteLeft = async (sql: Sql, scope: CertificateScope, now: Date): Promise<void> =>
  void (await sql`
    delete from host_certificate h
    where coalesce(h.not_after, h.updated_at) < ${now} and h.due_at < ${now}
      and h.host not in (select host from (${ordered(sql, scope)}) w)`)

/** The certificate of a host of the table. Null members: nothing was tried yet. */
export interface HostRow extends CertificateFacts {
  readonly host: string
  /** The name of the certificate: the host, or a wildcard. */
  readonly name: string
  readonly is_known: boolean
}

/** Lists the hosts of the table that have uploaded certificates, with the ends of those. */
export const listUploadedHosts = (sql: Sql, at: SecuredPlace) =>
  sql<{ readonly host: string; readonly not_after: Date }[]>`
    select host, not_after from (${uploadedHosts(sql, at)}) u`

/**
 * Lists the hosts of the table with the states of their ordered certificates: when the one that
 * serves ends, and how the orders of the wanted one went.
 */
export const listHosts = (sql: Sql, scope: CertificateScope, now: Date) =>
  sql<HostRow[]>`
    select w.host, w.name, h.host is not null as is_known, h.not_after, o.finding,
      coalesce(o.due_at, h.due_at) as due_at
    from (${named(sql, scope)}) w left join host_certificate o on o.host = w.name
      left join lateral (
        select * from host_certificate c where c.host in (w.name, w.host, w.wildcard)
        order by c.not_after > ${now} desc nulls last, c.host = w.name desc limit 1
      ) h on true`

/**
 * A query of the names whose certificates are served. A host's own serves until a wildcard can, and
 * a wildcard until the host has its own. Routers prefer a host's own, so one that has expired is
 * left out if the wildcard is valid.
 */
const served = (sql: Sql, scope: CertificateScope, now: Date) => sql`
  select unnest(array[n.name, n.wildcard,
    case when o.not_after <= ${now} and c.not_after > ${now} then null else n.host end]) as name
  from (${named(sql, scope)}) n left join host_certificate o on o.host = n.host
    left join host_certificate c on c.host = n.wildcard`

/** Returns a text that differs if the certificates or challenges of the table do. */
export async function readMark(sql: Sql, scope: CertificateScope, now: Date): Promise<string> {
  const [row] = await sql<{ mark: string | null }[]>`
    select sum(hashtextextended(concat_ws(' ', one.host, one.at, one.sealed_key, one.token), 0))::text as mark from (
      select h.host, h.updated_at as at, h.sealed_key, h.challenge_token as token
      from host_certificate h where h.host in (${served(sql, scope, now)})
      union all select u.host, u.uploaded_at, u.sealed_key::text, null from (${uploadedHosts(sql, scope.at)}) u) one`
  return row?.mark ?? ''
}

/** A host with a certificate or a challenge. */
export interface SealedCertificate {
  readonly host: string
  readonly chain: string | null
  readonly sealed_key: string | null
  readonly challenge_kind: ProofKind | null
  readonly challenge_token: string | null
  readonly challenge_answer: string | null
}

export const listCertificates = (sql: Sql, scope: CertificateScope, now: Date) =>
  sql<SealedCertificate[]>`
    select h.host, h.chain, h.sealed_key, h.challenge_kind, h.challenge_token, h.challenge_answer
    from host_certificate h
    where (h.chain is not null or h.challenge_token is not null) and h.host in (${served(sql, scope, now)})
    order by h.host`

/** An uploaded certificate of a host of the table. */
export interface SealedUpload {
  readonly host: string
  readonly organization_id: string
  readonly custom_domain_id: string
  readonly chain: string
  readonly sealed_key: string
}

export const listUploads = (sql: Sql, at: SecuredPlace) =>
  sql<SealedUpload[]>`
    select host, organization_id, custom_domain_id, chain, sealed_key
    from (${uploadedHosts(sql, at)}) u order by host`
