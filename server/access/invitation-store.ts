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
  readonly expires_at: Date
  readonly custom_role_name: string | null
}

const from = (sql: Sql) => sql`
  select i.*, o.name as organization_name, o.logo_url as organization_logo_url, r.name as custom_role_name
  from invitation i join organization o on o.id = i.organization_id left join custom_role r on r.id = i.custom_role_id`

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

/** Finds and locks it until the end of the transaction. */
export async function lockInvitation(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`select from invitation where id = ${id} for update`
  return rows.length === 1
}

export async function insertInvitation(
  sql: Sql,
  row: RoleColumns & {
    readonly id: string
    readonly organization_id: string
    readonly email: string
    readonly inviter: string
    readonly expires_at: Date
  },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'members', row.organization_id)
  await sql`insert into invitation ${sql({ ...row, created_at: now, updated_at: now })}`
}

/** Deletes an expired invitation so that a new one is possible. */
export async function deleteExpired(sql: Sql, organizationId: string, email: string, now: Date): Promise<void> {
  await sql`delete from invitation
    where organization_id = ${organizationId} and lower(email) = lower(${email}) and expires_at <= ${now}`
}

/** Returns whether it existed. */
export async function deleteInvitation(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from invitation where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}
