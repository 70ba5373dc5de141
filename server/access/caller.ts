import type { Access, Permission } from '@quayside/contract/operation.ts'
import {
  differsByPlace,
  isOwner,
  mayAccess,
  mayUseCluster,
  type Place,
  permissionsAt,
  permissionsSomewhere,
  type Rights,
} from '@quayside/contract/roles.ts'
import { AppError } from '../lib/error.ts'

export { mayAccess, type Place, type Rights } from '@quayside/contract/roles.ts'

/** The caller of a request after its credential was checked. */
export interface Caller {
  /** The id of the API token or of the account. */
  readonly id: string
  readonly kind: 'token' | 'account'
  readonly name: string
  /**
   * The person: the caller or the creator of the token. Undefined for a token that no person
   * created.
   */
  readonly accountId: string | undefined
  /** Rights on the target of the request. Without one, on the organization. */
  readonly permissions: readonly Permission[]
  /** Rights in the organization as a whole, see `mayOn`. */
  readonly rights: Rights
  /**
   * The organization of the token, or for an account that of the target. Empty for a person without
   * one.
   */
  readonly organizationId: string
}

/** Whether the caller has the access at another location than the target, for ids from a body. */
export const mayOn = ({ rights }: Pick<Caller, 'rights'>, access: Access, place: Place): boolean =>
  mayAccess(permissionsAt(rights, place), access)

/** The same, but throws 403. `what` names the object, such as `project "Shop"`. */
export function requireOn(caller: Pick<Caller, 'rights'>, access: Access, place: Place, what: string): void {
  if (mayOn(caller, access, place)) return
  throw new AppError(
    'forbidden',
    `This needs the permission ${access.toUpperCase()} on ${what}, which the caller lacks.`,
  )
}

/**
 * Throws 403 if a custom role may not create environments of that mode in the project or on the
 * cluster.
 */
export function requireNewEnvironment(
  caller: Pick<Caller, 'rights'>,
  { projectId, mode, clusterId }: { readonly projectId: string; readonly mode: string; readonly clusterId: string },
): void {
  requireOn(caller, 'write', { projectId, mode }, `environments of mode ${mode} of that project`)
  if (mayUseCluster(caller.rights, clusterId)) return
  throw new AppError(
    'forbidden',
    'cluster_id: creating environments on that cluster requires ENV_CREATOR or ADMIN on it.',
  )
}

/** The objects that a list may show the caller. */
export interface Visible {
  /** Whether everything may be shown. */
  readonly all: boolean
  project(projectId: string): boolean
  environment(projectId: string, mode: string): boolean
  cluster(clusterId: string): boolean
}

/** Filters lists of an organization or a project by the caller's rights. */
export function visible({ rights }: Pick<Caller, 'rights'>): Visible {
  const reads = (place: Place): boolean => mayAccess(permissionsAt(rights, place), 'read')
  return {
    // A built-in role or a set of permissions is the same for all projects.
    all: !differsByPlace(rights) && reads({ projectId: '' }) && reads({ clusterId: '' }),
    project: (projectId) => mayAccess(permissionsSomewhere(rights, projectId), 'read'),
    environment: (projectId, mode) => reads({ projectId, mode }),
    cluster: (clusterId) => reads({ clusterId }),
  }
}

/**
 * Whether a caller with these rights may grant those. A caller can only grant rights that it has.
 */
export function mayGrant(own: Rights, given: Rights): boolean {
  if (isOwner(own)) return true
  if (isOwner(given)) return false
  if (mayAccess(permissionsAt(own, {}), 'admin')) return true
  if (!('permissions' in own) || !('permissions' in given)) return false
  return given.permissions.every((permission) => own.permissions.includes(permission))
}
