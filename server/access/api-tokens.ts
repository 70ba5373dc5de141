import { type Permission, permissions } from '@quayside/contract/operation.ts'
import { type Database, isUniqueViolation } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { type ApiTokenRow, deleteApiToken, insertApiToken, listApiTokens } from './api-token-store.ts'
import { notFound } from './authorize.ts'
import { type Caller, mayGrant } from './caller.ts'
import { hashSecret, mintToken } from './token.ts'

export interface ApiTokenRequest {
  readonly name: string
  readonly description?: string | null
  readonly scope?: string | null
  readonly role_id?: string | null
  readonly expires_at?: string | null
}

/** API tokens of an organization. Revoking one is a delete: the next request that carries it is refused. */
export function createApiTokens({ database, clock, pepper }: { database: Database; clock: Clock; pepper: Buffer }) {
  return {
    async create(organizationId: string, caller: Pick<Caller, 'name' | 'permissions'>, request: ApiTokenRequest) {
      const granted = grantedPermissions(request)
      if (!mayGrant(caller.permissions, granted)) {
        throw new AppError('forbidden', 'A token cannot be given more permissions than its maker has.')
      }
      const name = checkName('name', request.name)
      const { token, keyId, secret } = mintToken()
      const row = await insertApiToken(database, {
        id: newId(),
        organization_id: organizationId,
        created_at: clock.now(),
        name,
        description: request.description ?? '',
        creator_name: caller.name,
        key_id: keyId,
        secret_hash: hashSecret(pepper, secret),
        permissions: granted,
        expires_at: expiry(request.expires_at, clock),
      }).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
        throw new AppError('conflict', `An API token with the name "${name}" exists already.`, { cause: error })
      })
      return { ...record(row), token }
    },

    async list(organizationId: string, filter: { name?: string; creatorName?: string }) {
      const rows = await listApiTokens(database, organizationId, filter)
      return rows.map(record)
    },

    async remove(organizationId: string, id: string): Promise<void> {
      if (!(await deleteApiToken(database, organizationId, id))) throw notFound()
    },
  }
}

function grantedPermissions(request: ApiTokenRequest): Permission[] {
  if (request.role_id) {
    throw new AppError('invalid', 'role_id: there are no roles yet; give `scope` ADMIN, READ, DEPLOY or WRITE instead.')
  }
  const scope = (request.scope ?? 'ADMIN').toUpperCase()
  const permission = permissions.find((candidate) => candidate === scope)
  if (!permission) throw new AppError('invalid', 'scope must be one of ADMIN, READ, DEPLOY, WRITE.')
  return [permission]
}

function expiry(text: string | null | undefined, clock: Clock): Date | null {
  if (!text) return null
  const date = new Date(text)
  if (date <= clock.now()) throw new AppError('invalid', 'expires_at must be in the future.')
  return date
}

const roleNames: Record<Permission, string> = { ADMIN: 'Admin', READ: 'Viewer', DEPLOY: 'Deployer', WRITE: 'Manager' }

function record(row: ApiTokenRow) {
  const scope = row.permissions[0] ?? 'READ'
  return { ...row, scope, role_name: roleNames[scope], role_id: null, token_hint: `quay_${row.key_id}` }
}
