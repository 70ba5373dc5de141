/** Who may do what, as pure rules: the matrix in docs/authorization.md and the server's answers both follow from these. */
import { environmentModes } from './enums.ts'
import type { Access, Permission } from './operation.ts'

export type EnvironmentMode = (typeof environmentModes)[number]
export const clusterLevels = ['VIEWER', 'ENV_CREATOR', 'ADMIN'] as const
export type ClusterLevel = (typeof clusterLevels)[number]
export const projectLevels = ['NO_ACCESS', 'VIEWER', 'DEPLOYER', 'MANAGER'] as const
export type ProjectLevel = (typeof projectLevels)[number]

/** What a built-in role may on the organization itself, on each of its projects, and on each of its clusters. */
interface BuiltInRole {
  readonly name: string
  readonly organization: readonly Permission[]
  readonly projects: readonly Permission[]
  readonly clusters: readonly Permission[]
}

/** The roles that every organization has. The owner is one person; what only that one may says `owner` in the contract. */
export const builtInRoles = {
  OWNER: { name: 'Owner', organization: ['ADMIN'], projects: ['ADMIN'], clusters: ['ADMIN'] },
  ADMIN: { name: 'Admin', organization: ['ADMIN'], projects: ['ADMIN'], clusters: ['ADMIN'] },
  DEVOPS: { name: 'DevOps', organization: ['DEPLOY', 'WRITE'], projects: ['ADMIN'], clusters: ['DEPLOY', 'WRITE'] },
  BILLING_MANAGER: { name: 'Billing Manager', organization: ['READ'], projects: [], clusters: ['READ'] },
  VIEWER: { name: 'Viewer', organization: ['READ'], projects: ['READ'], clusters: ['READ'] },
} as const satisfies Record<string, BuiltInRole>
export type RoleName = keyof typeof builtInRoles
/** The keys of the table; Object.keys forgets their type. */
export const roleNames = Object.keys(builtInRoles) as RoleName[]

/** What a custom role says of one project. */
export interface ProjectRights {
  readonly is_admin: boolean
  /** A mode that is not named is NO_ACCESS. */
  readonly modes: Readonly<Partial<Record<EnvironmentMode, ProjectLevel>>>
}

/** A custom role, by ids. A cluster that is not named is VIEWER, a project NO_ACCESS; of the organization itself it reads. */
export interface CustomRights {
  readonly clusters: Readonly<Record<string, ClusterLevel>>
  readonly projects: Readonly<Record<string, ProjectRights>>
}

/** All that somebody may inside one organization. */
export type Rights =
  | { readonly role: RoleName }
  | { readonly custom: CustomRights }
  /** The same everywhere. */
  | { readonly permissions: readonly Permission[] }

/** Where something is done: in an environment, a project, a cluster, or (nothing of that) the organization itself. */
export interface Place {
  readonly projectId?: string | undefined
  /** Of an environment of that project. */
  readonly mode?: string | undefined
  readonly clusterId?: string | undefined
}

/** Read is part of every permission; deploy and write do not contain each other; admin contains all. */
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
 * The permissions at a place. At a project itself a custom role reads when it reads one mode of its environments, and has another
 * permission when it has that one for all modes.
 */
export function permissionsAt(rights: Rights, place: Place): readonly Permission[] {
  if ('permissions' in rights) return rights.permissions
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

/** The permissions that somebody has in a project for one mode of its environments at least. */
export function permissionsSomewhere(rights: Rights, projectId: string): readonly Permission[] {
  const ofModes = environmentModes.flatMap((mode) => permissionsAt(rights, { projectId, mode }))
  return [...new Set([...permissionsAt(rights, { projectId }), ...ofModes])]
}

/** The permissions that somebody has at one place at least. */
export function permissionsAnywhere(rights: Rights): readonly Permission[] {
  const projectIds = 'custom' in rights ? Object.keys(rights.custom.projects) : ['']
  const ofProjects = projectIds.flatMap((projectId) => permissionsSomewhere(rights, projectId))
  return [...new Set([...permissionsAt(rights, {}), ...ofProjects])]
}

/** Whether environments may be made on the cluster, once the project allows them. */
export function mayUseCluster(rights: Rights, clusterId: string): boolean {
  if ('custom' in rights) return (rights.custom.clusters[clusterId] ?? 'VIEWER') !== 'VIEWER'
  return permissionsAt(rights, { clusterId }).length > 0
}

/**
 * Whether somebody may fetch from, or push to, a repository of the built-in git host. `usedAt`: the environments whose services use it. To read
 * it in one of them is enough to fetch; a push concerns them all, so it needs WRITE in each. What no service uses belongs to no project:
 * it is for those whose rights hold in all projects.
 */
export function mayUseRepository(rights: Rights, access: 'read' | 'write', usedAt: readonly Place[]): boolean {
  const places = usedAt.length > 0 ? usedAt : [{ projectId: '' }]
  const isAllowed = (place: Place): boolean => mayAccess(permissionsAt(rights, place), access)
  return access === 'read' ? places.some(isAllowed) : places.every(isAllowed)
}

/**
 * Whether a service or a form may name a repository of the built-in git host. The caller must be
 * allowed to fetch the repository, unless no service uses it yet.
 */
export const mayNameRepository = (rights: Rights, usedAt: readonly Place[]): boolean =>
  usedAt.length === 0 || mayUseRepository(rights, 'read', usedAt)

export const isOwner = (rights: Rights): boolean => 'role' in rights && rights.role === 'OWNER'
