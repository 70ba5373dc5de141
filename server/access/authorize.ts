import type { Access, Permission } from '@quayside/contract/operation.ts'
import {
  isOwner,
  permissionsAnywhere,
  permissionsAt,
  permissionsSomewhere,
  rightsOf,
  within,
} from '@quayside/contract/roles.ts'
import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { type AuthorizationRow, loadAuthorization, type TargetQuery, touch } from './authorize-store.ts'
import { type Caller, mayAccess, type Place, type Rights } from './caller.ts'
import type { Credential } from './credential.ts'
import { sameHash } from './token.ts'

export interface Authorized {
  readonly caller: Caller
  /** The row of the target. Undefined for an operation without one. */
  readonly target: Readonly<Record<string, unknown>> | undefined
  /** Every organization of the caller, oldest membership first. Only without a target. */
  readonly organizationIds: readonly string[]
  /** The caller's rights in each of them. */
  readonly memberships: readonly Membership[]
}

export interface Membership {
  readonly organizationId: string
  readonly rights: Rights
}

/** The requested target and the required access. */
export interface Wish {
  readonly access: Access
  /** A second required access. */
  readonly alsoAccess?: Access
  readonly query?: TargetQuery
  /** Creates the error for a target that does not exist or belongs to another organization. */
  readonly absent?: (id?: string) => AppError
  /** Undefined together with a query means that the id in the path is malformed. */
  readonly targetId?: string | undefined
  /**
   * Returns the location from the row of the target. Without it the location is the organization.
   */
  readonly place?: (target: AuthorizationRow) => Place
  /** Only the owner may do this, if the target's column `owner` names one. */
  readonly owner?: boolean
  /** For a project: access to one mode of its environments is enough. */
  readonly someMode?: boolean
  /**
   * The query or the body names the location, which `authorizeParent` checks. Access to any
   * location is enough here.
   */
  readonly elsewhere?: boolean
  /** Every known caller may read, also a person without an organization. */
  readonly anybody?: boolean
}

export const unauthorized = (): AppError =>
  new AppError(
    'unauthorized',
    'The token is missing, invalid, expired or revoked. Send `Authorization: Bearer <token>`.',
  )

const absentTarget = (id?: string): AppError => notFound('object', id)

/**
 * Loads and checks in an order that leaks nothing: credential (401), target inside the caller's
 * organization (404), permission (403).
 */
export async function authorize(sql: Sql, credential: Credential | undefined, wish: Wish): Promise<Authorized> {
  if (!credential) throw unauthorized()
  const wanted = wish.query && wish.targetId ? { query: wish.query, id: wish.targetId } : undefined
  const rows = await loadAuthorization(sql, credential, wanted)
  const row = wanted ? (rows.find((candidate) => candidate['id'] !== null) ?? rows[0]) : rows[0]
  if (!row || row.caller_expired || !presentsSecret(row, credential)) throw unauthorized()
  if (wish.query && (!wanted || row['id'] === null)) throw (wish.absent ?? absentTarget)(wish.targetId)
  const permissions = checkPermission(row, rows, wish)
  const kind = credential.kind === 'token' ? 'token' : 'account'
  if (row.caller_stale) await touch(sql, kind, row.caller_id)
  return {
    caller: {
      id: row.caller_id,
      kind,
      name: row.caller_name,
      accountId: row.caller_account_id ?? undefined,
      permissions,
      rights: callerRights(row),
      organizationId: row.caller_organization_id ?? '',
    },
    target: wanted && row,
    organizationIds: rows.flatMap((candidate) => candidate.caller_organization_id ?? []),
    memberships: rows.flatMap((candidate) =>
      candidate.caller_organization_id === null
        ? []
        : [{ organizationId: candidate.caller_organization_id, rights: callerRights(candidate) }],
    ),
  }
}

/** Returns the caller's permissions on the target. Throws 403 if they are insufficient. */
function checkPermission(row: AuthorizationRow, rows: readonly AuthorizationRow[], wish: Wish): readonly Permission[] {
  const { access, alsoAccess, query, anybody, owner, someMode } = wish
  const rights = callerRights(row)
  const place = (query && wish.place?.(row)) || {}
  const own =
    someMode && place.projectId !== undefined
      ? permissionsSomewhere(rights, place.projectId)
      : permissionsAt(rights, place)
  if (owner && row['owner'] !== null && !isOwner(rights)) {
    throw new AppError('forbidden', 'Only the owner of the organization may do this.')
  }
  if (mayAccess(own, access) && alsoAccess && !mayAccess(own, alsoAccess)) throw lacking(alsoAccess)
  if (mayAccess(own, access)) return own
  if (wish.elsewhere && mayComeIn(own, rows, wish)) return own
  if (
    !query &&
    anybody &&
    (access === 'read' || rows.some((one) => mayAccess(permissionsAt(callerRights(one), {}), access)))
  )
    return own
  throw lacking(access)
}

const lacking = (access: Access): AppError =>
  new AppError('forbidden', `This needs the permission ${access.toUpperCase()}, which the caller lacks.`)

function mayComeIn(own: readonly Permission[], rows: readonly AuthorizationRow[], { access, query }: Wish): boolean {
  if (query && !mayAccess(own, 'read')) return false
  return rows.some((row) => mayAccess(permissionsAnywhere(callerRights(row)), access))
}

/**
 * Returns the rights of a row. Those of a token end where the rights of its creator end now. A
 * token made with another token has the creator of that one, so a chain of them ends there too. A
 * creator who left took the token along.
 */
function callerRights(row: AuthorizationRow): Rights {
  const { caller_role: role, caller_custom_rights: custom_rights, caller_permissions: permissions } = row
  const rights = rightsOf({ role, custom_rights, permissions })
  if (row.creator_permissions === null) return rights
  const { creator_role, creator_custom_rights, creator_permissions } = row
  const creator = { role: creator_role, custom_rights: creator_custom_rights, permissions: creator_permissions }
  return within(rights, rightsOf(creator))
}

function presentsSecret(row: AuthorizationRow, credential: Credential): boolean {
  if (credential.kind === 'jwt') return true
  return row.caller_secret_hash !== null && sameHash(row.caller_secret_hash, credential.hash)
}
