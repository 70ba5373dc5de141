import type { Permission } from '@quayside/contract/operation.ts'
import type { RoleName } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import { findRights } from './custom-role-store.ts'
import type { RoleColumns } from './roles.ts'

export interface MemberRow extends RoleColumns {
  /** The id of the account. */
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  /** Null for people of an outside issuer that verified none. */
  readonly email: string | null
  readonly last_used_at: Date | null
  readonly permissions: Permission[]
  readonly custom_role_name: string | null
}

const from = (sql: Sql) => sql`
  select m.account_id as id, m.organization_id, m.created_at, m.updated_at, a.name, a.last_used_at,
    coalesce(a.email, a.outside_email) as email, m.permissions, m.role, m.custom_role_id, r.name as custom_role_name
  from member m join account a on a.id = m.account_id left join custom_role r on r.id = m.custom_role_id`

export const listMembers = (sql: Sql, organizationId: string) =>
  sql<MemberRow[]>`${from(sql)} where m.organization_id = ${organizationId} order by m.created_at, m.account_id`

/** Finds and locks a member until the end of the transaction. */
export async function findMember(sql: Sql, organizationId: string, accountId: string): Promise<MemberRow | undefined> {
  const [row] = await sql<MemberRow[]>`
    ${from(sql)} where m.organization_id = ${organizationId} and m.account_id = ${accountId} for update of m`
  return row
}

/** Returns a document, or SQL's null instead of JSON's. */
const documentOf = (sql: Sql, value: Json | null) => (value === null ? null : sql.json(value))

/** Returns false if the account is already a member. */
export async function insertMember(
  sql: Sql,
  row: RoleColumns & { readonly organization_id: string; readonly account_id: string },
  now: Date,
): Promise<boolean> {
  const { organization_id, account_id, role, custom_role_id } = row
  const values = { organization_id, account_id, created_at: now, updated_at: now, role, custom_role_id }
  const custom_rights = documentOf(sql, await findRights(sql, custom_role_id))
  const inserted = await sql`insert into member ${sql({ ...values, custom_rights })} on conflict do nothing`
  return inserted.count === 1
}

export async function setRole(
  sql: Sql,
  organizationId: string,
  accountId: string,
  { role, custom_role_id }: RoleColumns,
  now: Date,
): Promise<void> {
  const custom_rights = documentOf(sql, await findRights(sql, custom_role_id))
  const change = { role, custom_role_id, custom_rights, updated_at: now }
  await sql`
    update member set ${sql(change)}, permissions = '{}'
    where organization_id = ${organizationId} and account_id = ${accountId}`
}

/** Removes the owner's role from its holder, because there is at most one owner. */
export async function replaceRole(sql: Sql, organizationId: string, from: RoleName, to: RoleName, now: Date) {
  await sql`update member set role = ${to}, updated_at = ${now} where organization_id = ${organizationId}
    and role = ${from}`
}

export async function setOwner(sql: Sql, organizationId: string, accountId: string, now: Date): Promise<void> {
  await sql`update organization set owner = ${accountId}, updated_at = ${now}, version = version + 1
    where id = ${organizationId}`
}

/** Removes a member and the tokens that the person created. */
export async function deleteMember(sql: Sql, organizationId: string, accountId: string): Promise<void> {
  await sql`delete from member where organization_id = ${organizationId} and account_id = ${accountId}`
}

/** Whether a person who signs in with that address is a member. */
export async function isMemberAddress(sql: Sql, organizationId: string, email: string): Promise<boolean> {
  const rows = await sql`
    select from member m join account a on a.id = m.account_id
    where m.organization_id = ${organizationId} and lower(a.email) = lower(${email})`
  return rows.length > 0
}
