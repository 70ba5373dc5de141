import type { Access } from '@quayside/contract/operation.ts'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type AuthorizationRow, loadAuthorization, type TargetQuery, touchToken } from './authorize-store.ts'
import { type Caller, mayAccess } from './caller.ts'
import type { Credential } from './credential.ts'
import { sameHash } from './token.ts'

export interface Authorized {
  readonly caller: Caller
  /** The row of the target; of an operation without one, undefined. */
  readonly target: Readonly<Record<string, unknown>> | undefined
  /** Every organization that the caller belongs to, oldest membership first; only without a target. */
  readonly organizationIds: readonly string[]
}

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'The token is missing, not valid, expired or revoked; send `Authorization: Bearer <token>`.',
  )

/** The same words for what does not exist and for what belongs to somebody else. */
export const notFound = (): AppError => new AppError('notFound', 'There is no such object.')

/**
 * Loads and checks, in the order that leaks nothing: credential (401), target inside the caller's organization (404),
 * permission (403). `targetId` undefined with a query means that the id in the path has no valid form.
 */
export async function authorize(
  sql: Sql,
  credential: Credential | undefined,
  request: { readonly access: Access; readonly query?: TargetQuery; readonly targetId?: string | undefined },
): Promise<Authorized> {
  if (!credential) throw unauthorized()
  const wanted = request.query && request.targetId ? { query: request.query, id: request.targetId } : undefined
  const rows = await loadAuthorization(sql, credential, wanted)
  const row = wanted ? (rows.find((candidate) => candidate['id'] !== null) ?? rows[0]) : rows[0]
  if (!row || row.caller_expired || !presentsSecret(row, credential)) throw unauthorized()
  if (request.query && (!wanted || row['id'] === null)) throw notFound()
  if (!mayAccess(row.caller_permissions, request.access)) {
    throw new AppError('forbidden', `This needs the permission ${request.access.toUpperCase()}, which the token lacks.`)
  }
  if (row.caller_stale) await touchToken(sql, row.caller_id)
  return {
    caller: {
      id: row.caller_id,
      kind: credential.kind === 'token' ? 'token' : 'account',
      name: row.caller_name,
      permissions: row.caller_permissions,
      organizationId: row.caller_organization_id,
    },
    target: wanted && row,
    organizationIds: rows.map((candidate) => candidate.caller_organization_id),
  }
}

function presentsSecret(row: AuthorizationRow, credential: Credential): boolean {
  if (credential.kind === 'jwt') return true
  return row.caller_secret_hash !== null && sameHash(row.caller_secret_hash, credential.hash)
}
