import type { Permission } from '@quayside/contract/operation.ts'
import type { CustomRights, RoleName } from '@quayside/contract/roles.ts'
import { type Fragment, type Sql, withoutOwner } from '../database/index.ts'
import { type ComposedStatement, column, composeStatement } from './composed-statement.ts'
import type { Credential } from './credential.ts'
import { gather } from './gather.ts'

/**
 * A row of the request's first statement: the credential, joined with the target, whose columns are
 * null if it does not exist.
 */
export interface AuthorizationRow {
  readonly caller_id: string
  readonly caller_name: string
  /** Null if a person belongs to no organization. */
  readonly caller_organization_id: string | null
  /** The person, or the creator of the token. */
  readonly caller_account_id: string | null
  /** One of these three contains the caller's rights. */
  readonly caller_permissions: Permission[] | null
  readonly caller_role: RoleName | null
  readonly caller_custom_rights: CustomRights | null
  /**
   * The same columns of the person who created the token, which limit its rights. All are null for
   * an account, and for a token that no person created.
   */
  readonly creator_permissions: Permission[] | null
  readonly creator_role: RoleName | null
  readonly creator_custom_rights: CustomRights | null
  readonly caller_secret_hash: Buffer | null
  readonly caller_expired: boolean
  /** Whether the last recorded use is older than a minute. */
  readonly caller_stale: boolean
  readonly [column: string]: unknown
}

/**
 * Builds the part of the statement that selects the target's columns, including `id` and
 * `organization_id`. It is called once for each form of the statement, and also with a column
 * instead of the id, so its result must depend only on its arguments.
 */
export type TargetQuery = (sql: Sql, id: string) => Fragment

/**
 * Reads credential and target with one statement, so that a revoked token fails on the very next
 * request. A target of another organization joins to nothing and looks like one that does not
 * exist. Requests of the same turn of the event loop share a statement.
 */
export async function loadAuthorization(
  sql: Sql,
  credential: Credential,
  target: { readonly query: TargetQuery; readonly id: string } | undefined,
): Promise<AuthorizationRow[]> {
  if (target && credential.kind === 'token') {
    return loaderOf(sql, target.query)({ keyId: credential.keyId, id: target.id })
  }
  const { token, account } = target ? statementsOf(target.query) : withoutTarget
  const id = target?.id ?? ''
  return credential.kind === 'token'
    ? run(sql, token, credential.keyId, id)
    : run(sql, account, credential.issuer, credential.subject, String(credential.issuedAt ?? never), id)
}

const run = (sql: Sql, statement: ComposedStatement, ...values: readonly (string | readonly string[])[]) =>
  sql.unsafe<AuthorizationRow[]>(statement.text, statement.values(...values), { prepare: true })

interface Wanted {
  readonly keyId: string
  readonly id: string
}
type Loader = (wanted: Wanted) => Promise<AuthorizationRow[]>
const loaders = new WeakMap<Sql, Map<TargetQuery, Loader>>()

function loaderOf(sql: Sql, query: TargetQuery): Loader {
  const ofPool = loaders.get(sql) ?? new Map<TargetQuery, Loader>()
  loaders.set(sql, ofPool)
  const loader =
    ofPool.get(query) ?? gather((wanted: readonly Wanted[]) => withoutOwner(() => loadTogether(sql, query, wanted)))
  ofPool.set(query, loader)
  return loader
}

/** Returns the rows in the order of the requests. */
async function loadTogether(sql: Sql, query: TargetQuery, wanted: readonly Wanted[]): Promise<AuthorizationRow[][]> {
  const { token, tokens } = statementsOf(query)
  const [only] = wanted
  if (only && wanted.length === 1) return [await run(sql, token, only.keyId, only.id)]
  const [keys, ids] = [wanted.map(({ keyId }) => keyId), wanted.map(({ id }) => id)]
  const found: AuthorizationRow[][] = wanted.map(() => [])
  for (const row of await run(sql, tokens, keys, ids)) found[Number(row['wanted_place']) - 1]?.push(row)
  return found
}

const tokenQuery = (sql: Sql, keyId: string) => sql`
  select r.id as caller_id, r.name as caller_name, r.organization_id as caller_organization_id,
    r.creator_account_id as caller_account_id, r.permissions as caller_permissions, r.role as caller_role,
    r.custom_rights as caller_custom_rights, r.secret_hash as caller_secret_hash,
    coalesce(r.expires_at <= now(), false) as caller_expired,
    coalesce(r.last_used_at < now() - interval '1 minute', true) as caller_stale,
    r.created_at as caller_organization_since, m.permissions as creator_permissions, m.role as creator_role,
    m.custom_rights as creator_custom_rights
  from api_token r
  left join member m on m.organization_id = r.organization_id and m.account_id = r.creator_account_id
  where r.key_id = ${keyId}`

/** The sessions of outside issuers end there. */
const never = 253_402_300_799

/** `issuedAt`: when the token was issued. It is refused if its person ended sessions afterwards. */
const accountQuery = (sql: Sql, issuer: string, subject: string, issuedAt: string) => sql`
  select a.id as caller_id, a.name as caller_name, r.organization_id as caller_organization_id,
    a.id as caller_account_id, r.permissions as caller_permissions, r.role as caller_role,
    r.custom_rights as caller_custom_rights, null::bytea as caller_secret_hash, false as caller_expired,
    coalesce(a.last_used_at < now() - interval '1 minute', true) as caller_stale,
    r.created_at as caller_organization_since, null::text[] as creator_permissions, null::text as creator_role,
    null::jsonb as creator_custom_rights
  from account a left join member r on r.account_id = a.id
  where a.issuer = ${issuer} and a.subject = ${subject}
    and (a.tokens_since is null or a.tokens_since <= to_timestamp(${issuedAt}::bigint))`

const alone = (sql: Sql, caller: Fragment) => sql`select * from (${caller}) c order by caller_organization_since`
const withoutTarget = {
  token: composeStatement(1, (sql, keyId = '') => alone(sql, tokenQuery(sql, keyId))),
  account: composeStatement(3, (sql, issuer = '', subject = '', issuedAt = '') =>
    alone(sql, accountQuery(sql, issuer, subject, issuedAt)),
  ),
}

const joined = (sql: Sql, caller: Fragment, target: Fragment) => sql`
    select * from (${caller}) c
    left join lateral (${target}) t on t.organization_id = c.caller_organization_id`

/**
 * The same for many tokens and targets: one row for each existing token, with its position among
 * them.
 */
const joinedMany = (sql: Sql, keyIds: string, ids: string, query: TargetQuery) => sql`
    select wanted.place as wanted_place, c.*, t.*
    from unnest(${keyIds}::text[], ${ids}::uuid[]) with ordinality as wanted (key_id, id, place)
    cross join lateral (${tokenQuery(sql, column('wanted.key_id'))}) c
    left join lateral (${query(sql, column('wanted.id'))}) t on t.organization_id = c.caller_organization_id`

interface Statements {
  readonly token: ComposedStatement
  readonly tokens: ComposedStatement
  readonly account: ComposedStatement
}
const composed = new WeakMap<TargetQuery, Statements>()

function statementsOf(query: TargetQuery): Statements {
  const known = composed.get(query)
  if (known) return known
  const statements = {
    token: composeStatement(2, (sql, keyId = '', id = '') => joined(sql, tokenQuery(sql, keyId), query(sql, id))),
    tokens: composeStatement(2, (sql, keyIds = '', ids = '') => joinedMany(sql, keyIds, ids, query)),
    account: composeStatement(4, (sql, issuer = '', subject = '', issuedAt = '', id = '') =>
      joined(sql, accountQuery(sql, issuer, subject, issuedAt), query(sql, id)),
    ),
  }
  composed.set(query, statements)
  return statements
}

/** Records the use of a token or an account, at most once a minute. */
export async function touch(sql: Sql, kind: 'token' | 'account', id: string): Promise<void> {
  await sql`update ${sql(kind === 'token' ? 'api_token' : 'account')} set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`
}
