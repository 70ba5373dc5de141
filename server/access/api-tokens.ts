import { type Permission, permissions } from '@quayside/contract/operation.ts'
import type { RoleName } from '@quayside/contract/roles.ts'
import { type Database, inTransaction, isUniqueViolation, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type ApiTokenRow, deleteApiToken, insertApiToken, listApiTokens } from './api-token-store.ts'
import { mayGrant, type Rights } from './caller.ts'
import { builtInRoleId, chooseRole, type RoleColumns, roleFields } from './roles.ts'
import { hashSecret, mintToken } from './token.ts'

export interface ApiTokenRequest {
  readonly name: string
  readonly description?: string | null
  readonly scope?: string | null
  readonly role_id?: string | null
  readonly expires_at?: string | null
}

/** The creator of a token. `rights` are set if they differ from the permissions. */
export interface TokenMaker {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly rights?: Rights
  readonly accountId?: string | undefined
}

/**
 * API tokens of an organization. A token ends with the membership of its creator. Revoking deletes
 * it, so the next request with it is rejected.
 */
export function createApiTokens({ database, clock, pepper }: { database: Database; clock: Clock; pepper: Buffer }) {
  return {
    async create(organizationId: string, maker: TokenMaker, request: ApiTokenRequest) {
      const { rights, ...granted } = await wanted(database, organizationId, request)
      if (!mayGrant(maker.rights ?? { permissions: maker.permissions }, rights)) {
        throw new AppError('forbidden', 'A token cannot have more permissions than its creator.')
      }
      const name = checkName('name', request.name)
      const { token, keyId, secret } = mintToken()
      const values = {
        id: newId(),
        organization_id: organizationId,
        created_at: clock.now(),
        name,
        description: request.description ?? '',
        creator_name: maker.name,
        creator_account_id: maker.accountId ?? null,
        key_id: keyId,
        secret_hash: hashSecret(pepper, secret),
        ...granted,
        expires_at: expiry(request.expires_at, clock),
      }
      const row = await inTransaction(database, (sql) => insertApiToken(sql, values)).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
        throw new AppError('conflict', `An API token with the name "${name}" already exists.`, { cause: error })
      })
      return { ...record(row), token }
    },

    async list(organizationId: string, filter: { name?: string; creatorName?: string }) {
      const rows = await listApiTokens(database, organizationId, filter)
      return rows.map(record)
    },

    async remove(organizationId: string, id: string): Promise<void> {
      if (!(await deleteApiToken(database, organizationId, id))) throw notFound('API token', id)
    },
  }
}

/** Returns the rights of a new token: the role if one is named, else the permission of `scope`. */
async function wanted(
  sql: Sql,
  organizationId: string,
  request: ApiTokenRequest,
): Promise<RoleColumns & { permissions: Permission[]; rights: Rights }> {
  if (request.role_id) {
    const { role, custom_role_id, rights } = await chooseRole(sql, organizationId, 'role_id', request.role_id)
    return { role, custom_role_id, permissions: [], rights }
  }
  const scope = (request.scope ?? 'ADMIN').toUpperCase()
  const permission = permissions.find((candidate) => candidate === scope)
  if (!permission) throw new AppError('invalid', 'scope must be one of ADMIN, READ, DEPLOY, WRITE.')
  return { role: null, custom_role_id: null, permissions: [permission], rights: { permissions: [permission] } }
}

function expiry(text: string | null | undefined, clock: Clock): Date | null {
  if (!text) return null
  const date = new Date(text)
  if (date <= clock.now()) throw new AppError('invalid', 'expires_at must be in the future.')
  return date
}

/** The built-in roles that correspond to two of the scopes. */
const rolesOfScopes: Partial<Record<Permission, RoleName>> = { ADMIN: 'ADMIN', READ: 'VIEWER' }
/** The closest scope of a role. A custom role has none. */
const scopesOfRoles: Record<RoleName, Permission> = {
  OWNER: 'ADMIN',
  ADMIN: 'ADMIN',
  DEVOPS: 'WRITE',
  BILLING_MANAGER: 'READ',
  VIEWER: 'READ',
}

function record(row: ApiTokenRow) {
  const scope = row.role ? scopesOfRoles[row.role] : (row.permissions[0] ?? null)
  const same = scope && !row.role && rolesOfScopes[scope]
  const { role_id, role_name } = roleFields(row.organization_id, row)
  const id = same ? builtInRoleId(row.organization_id, same) : role_id
  return { ...row, scope, role_name, role_id: id, token_hint: `quay_${row.key_id}` }
}
