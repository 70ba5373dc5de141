import type { Permission } from '@quayside/contract/operation.ts'
import type { CustomRights, RoleName } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { RoleColumns } from './roles.ts'

export interface InvitationRow extends RoleColumns {
  readonly id: string
  readonly organization_id: string
  readonly organization_name: string
  readonly organization_logo_url: string | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly email: string
  readonly inviter: string
  /** The person who invited, also with a token. Null for a token that no person created. */
  readonly inviter_account_id: string | null
  /** The rights of that person now. */
  readonly inviter_role: RoleName | null
  readonly inviter_permissions: Permission[] | null
  readonly inviter_custom_rights: CustomRights | null
  readonly expires_at: Date
  readonly custom_role_name: string | null
}

const from = (sql: Sql) => sql`
  select i.*, o.name as organization_name, o.logo_url as organization_logo_url, r.name as custom_role_name,
    m.role as inviter_role, m.permissions as inviter_permissions, m.custom_rights as inviter_custom_rights
  from invitation i join organization o on o.id = i.organization_id left join custom_role r on r.id = i.custom_role_id
  left join member m on m.organization_id = i.organization_id and m.account_id = i.inviter_account_id`

export const listInvitations = (sql: Sql, organizationId: string) =>
  sql<InvitationRow[]>`${from(sql)} where i.organization_id = ${organizationId} order by i.created_at, i.id`

export async function findInvitation(sql: Sql, organizationId: string, id: string): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`${from(sql)} where i.organization_id = ${organizationId} and i.id = ${id}`
  return row
}

/** Finds an invitation of any organization, for links, which prove more than the id. */
export async function findInvitationById(sql: Sql, id: string): Promise<InvitationRow | undefined> {
  const [row] = await sql<InvitationRow[]>`${from(sql)} where i.id = ${id}`
  return row
}

/** Finds an invitation by its address. */
export async function findInvitationTo(sql: Sql, organizationId: string, email: string) {
  const [row] = await sql<InvitationRow[]>`
    ${from(sql)} where i.organization_id = ${organizationId} and lower(i.email) = lower(${email})`
  return row
}

/** Finds an invitation as it is now, and locks it until the end of the transaction. */
export async function lockInvitation(sql: Sql, id: string): Promise<InvitationRow | undefined> {
  await sql`select from invitation where id = ${id} for update`
  return findInvitationById(sql, id)
}

export async function insertInvitation(
  sql: Sql,
  row: RoleColumns & {
    readonly id: string
    readonly organization_id: string
    readonly email: string
    readonly inviter: string
    readonly inviter_account_id: string | null
    readonly expires_at: Date
  },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'members', row.organization_id)
  await sql`insert into invitation ${sql({ ...row, created_at: now, updated_at: now })}`
}

/** Returns whether it existed. */
export async function deleteInvitation(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from invitation where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}
