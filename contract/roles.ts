/**
 * The permission rules as pure functions, for the server and for the matrix in
 * docs/authorization.md.
 */
import { environmentModes } from './enums.ts'
import { type Access, type Permission, permissions } from './operation.ts'

export type EnvironmentMode = (typeof environmentModes)[number]
export const clusterLevels = ['VIEWER', 'ENV_CREATOR', 'ADMIN'] as const
export type ClusterLevel = (typeof clusterLevels)[number]
export const projectLevels = ['NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER'] as const
export type ProjectLevel = (typeof projectLevels)[number]

/** The permissions of a built-in role on the organization, its projects and its clusters. */
interface BuiltInRole {
  readonly name: string
  readonly organization: readonly Permission[]
  readonly projects: readonly Permission[]
  readonly clusters: readonly Permission[]
}

/**
 * The roles of every organization. The owner is one person. The contract marks operations for the
 * owner only with `owner`.
 */
export const builtInRoles = {
  OWNER: { name: 'Owner', organization: ['ADMIN'], projects: ['ADMIN'], clusters: ['ADMIN'] },
  ADMIN: { name: 'Admin', organization: ['ADMIN'], projects: ['ADMIN'], clusters: ['ADMIN'] },
  DEVOPS: { name: 'DevOps', organization: ['DEPLOY', 'WRITE'], projects: ['ADMIN'], clusters: ['DEPLOY', 'WRITE'] },
  BILLING_MANAGER: { name: 'Billing Manager', organization: ['READ'], projects: [], clusters: ['READ'] },
  VIEWER: { name: 'Viewer', organization: ['READ'], projects: ['READ'], clusters: ['READ'] },
} as const satisfies Record<string, BuiltInRole>
export type RoleName = keyof typeof builtInRoles
/** The keys of the table. Object.keys loses their type. */
export const roleNames = Object.keys(builtInRoles) as RoleName[]

/** The permissions of a custom role in one project. */
export interface ProjectRights {
  readonly is_admin: boolean
  /** A missing mode is NO_ACCESS. */
  readonly modes: Readonly<Partial<Record<EnvironmentMode, ProjectLevel>>>
}

/**
 * A custom role, by ids. A missing cluster is VIEWER, a missing project NO_ACCESS. It may read the
 * organization.
 */
export interface CustomRights {
  readonly clusters: Readonly<Record<string, ClusterLevel>>
  readonly projects: Readonly<Record<string, ProjectRights>>
}

/** All permissions of a caller inside one organization. */
export type Rights =
  | { readonly role: RoleName }
  | { readonly custom: CustomRights }
  /** Permissions that hold everywhere. */
  | { readonly permissions: readonly Permission[] }
  /** What both of them have at a place: a token, and the person who created it. */
  | { readonly both: readonly [Rights, Rights] }

/**
 * The place of an action: an environment, a project, a cluster or, without any of them, the
 * organization.
 */
export interface Place {
  readonly projectId?: string | undefined
  /** The mode of an environment of that project. */
  readonly mode?: string | undefined
  readonly clusterId?: string | undefined
}

/** Returns whether the permissions grant the access. All include read, and admin includes all. */
export function mayAccess(permissions: readonly Permission[], access: Access): boolean {
  if (permissions.includes('ADMIN')) return true
  switch (access) {
    case 'read':
      return permissions.length > 0
    case 'deploy':
      return permissions.includes('DEPLOY')
    case 'write':
      return permissions.includes('WRITE')
    case 'admin':
      return false
  }
}

const ofProjectLevel: Record<ProjectLevel, readonly Permission[]> = {
  NO_ACCESS: [],
  VIEWER: ['READ'],
  DEPLOYER: ['READ', 'DEPLOY'],
  MANAGER: ['READ', 'DEPLOY', 'WRITE'],
}
const ofClusterLevel: Record<ClusterLevel, readonly Permission[]> = {
  VIEWER: ['READ'],
  ENV_CREATOR: ['READ'],
  ADMIN: ['ADMIN'],
}

/**
 * Returns the permissions at a place. A custom role may read a project if it may read one mode of
 * its environments. It has any other permission on a project only if it has it for all modes.
 */
export function permissionsAt(rights: Rights, place: Place): readonly Permission[] {
  if ('permissions' in rights) return rights.permissions
  if ('both' in rights) return common(permissionsAt(rights.both[0], place), permissionsAt(rights.both[1], place))
  if ('role' in rights) {
    const { organization, projects, clusters } = builtInRoles[rights.role]
    return place.projectId !== undefined ? projects : place.clusterId !== undefined ? clusters : organization
  }
  const { projects, clusters } = rights.custom
  if (place.projectId !== undefined) return ofCustomProject(projects[place.projectId], place.mode)
  if (place.clusterId !== undefined) return ofClusterLevel[clusters[place.clusterId] ?? 'VIEWER']
  return ['READ']
}

function ofCustomProject(rights: ProjectRights | undefined, mode: string | undefined): readonly Permission[] {
  if (!rights) return []
  if (rights.is_admin) return ['ADMIN']
  const ofMode = (one: EnvironmentMode) => ofProjectLevel[rights.modes[one] ?? 'NO_ACCESS']
  const ofModes = environmentModes.map(ofMode)
  if (mode !== undefined) return environmentModes.filter((one) => one === mode).flatMap(ofMode)
  const [first = [], ...others] = ofModes
  const everywhere = first.filter((permission) => others.every((other) => other.includes(permission)))
  return ofModes.some((one) => one.length > 0) ? [...new Set<Permission>(['READ', ...everywhere])] : []
}

const common = (one: readonly Permission[], other: readonly Permission[]): readonly Permission[] =>
  one.includes('ADMIN') ? other : permissions.filter((wanted) => grants(one, wanted) && grants(other, wanted))

const grants = (own: readonly Permission[], wanted: Permission): boolean =>
  own.includes('ADMIN') || own.includes(wanted) || (wanted === 'READ' && own.length > 0)

/**
 * Returns the rights that do not exceed the limit: those of a token within those of the person who
 * created it.
 */
export function within(rights: Rights, limit: Rights): Rights {
  if (isOwner(limit) || (isAdmin(limit) && !isOwner(rights))) return rights
  return isAdmin(rights) ? limit : { both: [rights, limit] }
}

/** Whether the rights include everything that does not need the owner. */
const isAdmin = (rights: Rights): boolean =>
  'permissions' in rights
    ? rights.permissions.includes('ADMIN')
    : 'role' in rights && (rights.role === 'OWNER' || rights.role === 'ADMIN')

/** Returns the custom roles in the rights. Without one, the rights are the same in all projects. */
function customParts(rights: Rights): readonly CustomRights[] {
  if ('both' in rights) return rights.both.flatMap(customParts)
  return 'custom' in rights ? [rights.custom] : []
}

/** Whether the rights differ by project, mode or cluster. */
export const differsByPlace = (rights: Rights): boolean => customParts(rights).length > 0

/** Returns the ids of the projects and clusters for which the rights have an entry of their own. */
export function namedPlaces(rights: Rights): {
  readonly projects: readonly string[]
  readonly clusters: readonly string[]
} {
  const parts = customParts(rights)
  return {
    projects: [...new Set(parts.flatMap(({ projects }) => Object.keys(projects)))],
    clusters: [...new Set(parts.flatMap(({ clusters }) => Object.keys(clusters)))],
  }
}

/** The columns of a row with rights. One of them is set. */
export interface RightsColumns {
  readonly role: RoleName | null
  readonly custom_rights: CustomRights | null
  readonly permissions: readonly Permission[] | null
}

/** Returns the rights of a member or a token from its row. */
export function rightsOf({ role, custom_rights, permissions }: RightsColumns): Rights {
  if (role !== null) return { role }
  return custom_rights === null ? { permissions: permissions ?? [] } : { custom: custom_rights }
}

/**
 * Returns the permissions that a caller has in a project for at least one mode of its environments.
 */
export function permissionsSomewhere(rights: Rights, projectId: string): readonly Permission[] {
  const ofModes = environmentModes.flatMap((mode) => permissionsAt(rights, { projectId, mode }))
  return [...new Set([...permissionsAt(rights, { projectId }), ...ofModes])]
}

/** Returns the permissions that a caller has in at least one place. */
export function permissionsAnywhere(rights: Rights): readonly Permission[] {
  // No id of a project is empty.
  const ofProjects = ['', ...namedPlaces(rights).projects].flatMap((projectId) =>
    permissionsSomewhere(rights, projectId),
  )
  return [...new Set([...permissionsAt(rights, {}), ...ofProjects])]
}

/** Returns whether the caller may create environments on the cluster, if the project allows it. */
export function mayUseCluster(rights: Rights, clusterId: string): boolean {
  if ('both' in rights) return rights.both.every((one) => mayUseCluster(one, clusterId))
  if ('custom' in rights) return (rights.custom.clusters[clusterId] ?? 'VIEWER') !== 'VIEWER'
  return permissionsAt(rights, { clusterId }).length > 0
}

/**
 * Returns whether a caller may fetch from or push to a repository of the built-in git host.
 * `usedAt` has the environments whose services use it. Fetching requires READ in one of them. A
 * push affects all of them, so it requires WRITE in each. An unused repository requires the
 * permission in all projects.
 */
export function mayUseRepository(rights: Rights, access: 'read' | 'write', usedAt: readonly Place[]): boolean {
  const places = usedAt.length > 0 ? usedAt : [{ projectId: '' }]
  const isAllowed = (place: Place): boolean => mayAccess(permissionsAt(rights, place), access)
  return access === 'read' ? places.some(isAllowed) : places.every(isAllowed)
}

/**
 * Returns whether a service or a form may name a repository of the built-in git host. The caller
 * must be allowed to fetch it, unless no service uses it yet.
 */
export const mayNameRepository = (rights: Rights, usedAt: readonly Place[]): boolean =>
  usedAt.length === 0 || mayUseRepository(rights, 'read', usedAt)

export const isOwner = (rights: Rights): boolean => 'role' in rights && rights.role === 'OWNER'
