import type { Access, Permission } from '@quayside/contract/operation.ts'
import {
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

/** Who asks, once the door has checked the credential. */
export interface Caller {
  /** Of the API token or of the account. */
  readonly id: string
  readonly kind: 'token' | 'account'
  readonly name: string
  /** The person: who asks, or who made the token. Of a token that no person made, undefined. */
  readonly accountId: string | undefined
  /** On the target of the request; without one, on the organization. */
  readonly permissions: readonly Permission[]
  /** In the organization as a whole; see `mayOn`. */
  readonly rights: Rights
  /** Of the token; of an account, the one that the target belongs to. Empty for a person who belongs to none. */
  readonly organizationId: string
}

/** Whether the caller may do something at another place of the organization than the target: for ids that came in a body. */
export const mayOn = ({ rights }: Pick<Caller, 'rights'>, access: Access, place: Place): boolean =>
  mayAccess(permissionsAt(rights, place), access)

/** The same, and refuses with 403. `what` names the object, as `project "Shop"`. */
export function requireOn(caller: Pick<Caller, 'rights'>, access: Access, place: Place, what: string): void {
  if (mayOn(caller, access, place)) return
  throw new AppError(
    'forbidden',
    `This needs the permission ${access.toUpperCase()} on ${what}, which the caller lacks.`,
  )
}

/** Refuses with 403 where a custom role may not make environments of that mode there: in the project, and on the cluster. */
export function requireNewEnvironment(
  caller: Pick<Caller, 'rights'>,
  { projectId, mode, clusterId }: { readonly projectId: string; readonly mode: string; readonly clusterId: string },
): void {
  requireOn(caller, 'write', { projectId, mode }, `environments of mode ${mode} of that project`)
  if (mayUseCluster(caller.rights, clusterId)) return
  throw new AppError('forbidden', 'cluster_id: making environments on that cluster needs ENV_CREATOR or ADMIN on it.')
}

/** What a list may show the caller. */
export interface Visible {
  /** Nothing has to be left out. */
  readonly all: boolean
  project(projectId: string): boolean
  environment(projectId: string, mode: string): boolean
  cluster(clusterId: string): boolean
}

/** Lists of an organization or a project leave out what their caller may not read. */
export function visible({ rights }: Pick<Caller, 'rights'>): Visible {
  const reads = (place: Place): boolean => mayAccess(permissionsAt(rights, place), 'read')
  return {
    // A built-in role and a set of permissions are the same for all projects.
    all: !('custom' in rights) && reads({ projectId: '' }) && reads({ clusterId: '' }),
    project: (projectId) => mayAccess(permissionsSomewhere(rights, projectId), 'read'),
    environment: (projectId, mode) => reads({ projectId, mode }),
    cluster: (clusterId) => reads({ clusterId }),
  }
}

/** Whether a caller with these rights may hand out those: nobody gives more than he has. */
export function mayGrant(own: Rights, given: Rights): boolean {
  if (isOwner(own)) return true
  if (isOwner(given)) return false
  if (mayAccess(permissionsAt(own, {}), 'admin')) return true
  if (!('permissions' in own) || !('permissions' in given)) return false
  return given.permissions.every((permission) => own.permissions.includes(permission))
}
