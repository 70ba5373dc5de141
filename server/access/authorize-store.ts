import type { Permission } from '@quayside/contract/operation.ts'
import type { Fragment, Sql } from '../database/index.ts'
import type { Credential } from './credential.ts'

/** A row of the request's first statement: the credential's, joined with the target's (all null when there is none). */
export interface AuthorizationRow {
  readonly caller_id: string
  readonly caller_name: string
  readonly caller_organization_id: string
  readonly caller_permissions: Permission[]
  readonly caller_secret_hash: Buffer | null
  readonly caller_expired: boolean
  /** Its last use was not noted within the last minute. */
  readonly caller_stale: boolean
  readonly [column: string]: unknown
}

/** Builds the part of the statement that gives the target's columns, `id` and `organization_id` among them. */
export type TargetQuery = (sql: Sql, id: string) => Fragment

/**
 * Credential and target in one statement, so that a revoked token is refused by the very next request. A target of another
 * organization joins to nothing: it cannot be told from one that does not exist.
 */
export async function loadAuthorization(
  sql: Sql,
  credential: Credential,
  target: { readonly query: TargetQuery; readonly id: string } | undefined,
): Promise<AuthorizationRow[]> {
  const caller = credential.kind === 'token' ? tokenQuery(sql, credential.keyId) : accountQuery(sql, credential)
  if (!target) return sql<AuthorizationRow[]>`select * from (${caller}) c order by caller_organization_since`
  return sql<AuthorizationRow[]>`
    select * from (${caller}) c
    left join lateral (${target.query(sql, target.id)}) t on t.organization_id = c.caller_organization_id`
}

const tokenQuery = (sql: Sql, keyId: string) => sql`
  select id as caller_id, name as caller_name, organization_id as caller_organization_id,
    permissions as caller_permissions, secret_hash as caller_secret_hash,
    coalesce(expires_at <= now(), false) as caller_expired, coalesce(last_used_at < now() - interval '1 minute', true) as caller_stale,
    created_at as caller_organization_since
  from api_token where key_id = ${keyId}`

const accountQuery = (sql: Sql, identity: { issuer: string; subject: string }) => sql`
  select a.id as caller_id, a.name as caller_name, m.organization_id as caller_organization_id,
    m.permissions as caller_permissions, null::bytea as caller_secret_hash, false as caller_expired,
    false as caller_stale, m.created_at as caller_organization_since
  from account a join member m on m.account_id = a.id
  where a.issuer = ${identity.issuer} and a.subject = ${identity.subject}`

/** Notes the use of a token, at most once a minute. */
export async function touchToken(sql: Sql, id: string): Promise<void> {
  await sql`update api_token set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`
}
