import { builtInRoles, type Rights, type RoleName, roleNames } from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import { derivedId } from '../lib/id.ts'
import { findRoleName, listRoleNames } from './custom-role-store.ts'

/**
 * The role of a member or token, as columns of a row: one of them is not null, or the row has
 * permissions instead.
 */
export interface RoleColumns {
  readonly role: RoleName | null
  readonly custom_role_id: string | null
}

/** The stable id of a built-in role in an organization. The role has no row. */
export const builtInRoleId = (organizationId: string, role: RoleName): string =>
  derivedId(organizationId, 'built-in role', role)

/** A role of an organization, by the id in requests. */
export interface ChosenRole extends RoleColumns {
  readonly name: string
  readonly rights: Rights
}

/**
 * Finds the role with that id in the organization. Throws 404 with the field's name if it has none.
 */
export async function chooseRole(sql: Sql, organizationId: string, field: string, id: string): Promise<ChosenRole> {
  const builtIn = roleNames.find((role) => builtInRoleId(organizationId, role) === id.toLowerCase())
  if (builtIn) return builtInRole(builtIn)
  const name = await findRoleName(sql, organizationId, id)
  if (name === undefined) throw notFound('role', id, { field, advice: 'List the roles with availableRole.' })
  // Its content does not matter: a caller who may grant one custom role may grant any.
  return { role: null, custom_role_id: id.toLowerCase(), name, rights: { custom: { clusters: {}, projects: {} } } }
}

export const builtInRole = (role: RoleName): ChosenRole => ({
  role,
  custom_role_id: null,
  name: builtInRoles[role].name,
  rights: { role },
})

/**
 * `role_id` and `role_name` of a row, as the API returns them. `permissions` are those without a
 * role.
 */
export function roleFields(
  organizationId: string,
  row: RoleColumns & { readonly custom_role_name?: string | null; readonly permissions?: readonly string[] },
): { role_id: string | null; role_name: string } {
  if (row.role) return { role_id: builtInRoleId(organizationId, row.role), role_name: builtInRoles[row.role].name }
  if (row.custom_role_id) return { role_id: row.custom_role_id, role_name: row.custom_role_name ?? '' }
  return { role_id: null, role_name: (row.permissions ?? []).map((one) => permissionNames[one] ?? one).join(', ') }
}

const permissionNames: Record<string, string> = {
  ADMIN: 'Admin',
  READ: 'Viewer',
  DEPLOY: 'Deployer',
  WRITE: 'Manager',
}

/** Lists every role for members and tokens of the organization, the built-in ones first. */
export async function listAvailableRoles(sql: Sql, organizationId: string): Promise<{ id: string; name: string }[]> {
  const builtIn = roleNames.map((role) => ({ id: builtInRoleId(organizationId, role), name: builtInRoles[role].name }))
  return [...builtIn, ...(await listRoleNames(sql, organizationId))]
}
