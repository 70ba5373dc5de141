import { environmentModes } from './enums.ts'
import { eventStream } from './event-stream.ts'
import { type Operation, pathParameters, permissions } from './operation.ts'
import {
  builtInRoles,
  isOwner,
  mayAccess,
  mayUseRepository,
  type Place,
  type ProjectRights,
  permissionsAnywhere,
  permissionsAt,
  permissionsSomewhere,
  projectLevels,
  type Rights,
  roleNames,
} from './roles.ts'
import { streamPaths, streams } from './streams.ts'

/** Placeholder ids for the project and the cluster of an operation. */
export interface Somewhere {
  readonly projectId: string
  readonly clusterId: string
}

/** A kind of caller. `rights` is undefined for a request without a valid token. */
export interface Credential {
  readonly name: string
  readonly rights: Rights | undefined
}

const custom = (projects: Readonly<Record<string, ProjectRights>>): Rights => ({ custom: { clusters: {}, projects } })

/**
 * Every kind of caller. The custom roles have the same permission for all modes of one project, and
 * no other.
 */
export function credentials({ projectId }: Somewhere): Credential[] {
  const levels = projectLevels.filter((level) => level !== 'NO_ACCESS')
  return [
    { name: 'no token', rights: undefined },
    ...permissions.map((permission) => ({ name: permission, rights: { permissions: [permission] } })),
    { name: 'none', rights: custom({}) },
    ...levels.map((level) => {
      const modes = Object.fromEntries(environmentModes.map((mode) => [mode, level]))
      return { name: level.toLowerCase(), rights: custom({ [projectId]: { is_admin: false, modes } }) }
    }),
    { name: 'project admin', rights: custom({ [projectId]: { is_admin: true, modes: {} } }) },
    ...roleNames.map((role) => ({ name: builtInRoles[role].name, rights: { role } })),
  ]
}

/** The result of authorization, before the request itself is checked. */
export type Answer = 401 | 403 | 'passes'

/** The fields of an operation or a stream that decide who is permitted. */
type Entrance = Pick<Operation, 'access' | 'alsoAccess' | 'target' | 'path' | 'owner' | 'someMode' | 'elsewhere'>

/** Returns the result for an operation inside the caller's own organization, which has an owner. */
export function answerTo(operation: Entrance, { rights }: Credential, somewhere: Somewhere): Answer {
  if (!rights) return 401
  const { access, alsoAccess = 'read', target, owner, someMode, elsewhere } = operation
  if (owner && !isOwner(rights)) return 403
  if (target === 'caller' && access === 'read') return 'passes'
  const place = placeIn(operation, somewhere)
  const own =
    someMode && place.projectId !== undefined
      ? permissionsSomewhere(rights, place.projectId)
      : permissionsAt(rights, place)
  if (mayAccess(own, access) && mayAccess(own, alsoAccess)) return 'passes'
  const seesTarget = target === 'caller' || mayAccess(own, 'read')
  return elsewhere && seesTarget && mayAccess(permissionsAnywhere(rights), access) ? 'passes' : 403
}

function placeIn({ target, path }: Entrance, { projectId, clusterId }: Somewhere): Place {
  switch (target) {
    case 'caller':
      return {}
    case 'organization':
      return pathParameters(path).includes('clusterId') ? { clusterId } : {}
    case 'cluster':
      return { clusterId }
    case 'project':
      return { projectId }
    default:
      return { projectId, mode: environmentModes[0] }
  }
}

const legend = `# Who may do what

Generated from the contract by \`npm run emit\`. A test checks every cell against a server. ✓ means permitted: the request itself is
checked afterwards. A dot means 403. Every operation answers 401 without a valid token. An id of another organization answers 404, like an
unknown id.

| Column | Meaning |
|---|---|
| READ, DEPLOY, WRITE, ADMIN | an API token with that \`scope\` |
| none | a custom role without a project: it reads the organization and its clusters |
| viewer, deployer, manager | a custom role with that permission for every mode of environments of the project |
| project admin | a custom role with \`is_admin\` for that project |
| Owner to Viewer | the built-in roles, of members and of API tokens |

A custom role with a permission for some modes has it only in environments of those modes. It may then read the project, and create
environments of modes for which it is MANAGER, on clusters for which it is ENV_CREATOR or ADMIN. A custom role that is ADMIN of a cluster
has the permission ADMIN on it. Lists of projects and environments omit what the caller may not read.

If the query or the body names the place, ✓ means permitted at some place. The place itself is checked afterwards.

Only people can own an organization, accept an invitation or change an account. API tokens have ✓ there and get 403 afterwards. If an
organization has no owner, ADMIN is enough for operations of the owner.
`

/** Returns the document docs/authorization.md. */
export function authorizationDocument(contract: Readonly<Record<string, Operation>>): string {
  const somewhere = { projectId: 'project', clusterId: 'cluster' }
  const [, ...columns] = credentials(somewhere)
  const head = [
    `| Operation | | Path | ${columns.map(({ name }) => name).join(' | ')} |`,
    `|---|---|---|${columns.map(() => ':-:|').join('')}`,
  ]
  const byTag = Object.groupBy(Object.entries(contract), ([, { tag }]) => tag)
  const sections = Object.entries(byTag).map(([tag, operations = []]) => {
    const rows = operations.map(([name, operation]) => {
      const cells = columns.map((column) => (answerTo(operation, column, somewhere) === 'passes' ? '✓' : '·'))
      return `| ${name} | ${operation.method} | \`${operation.path}\` | ${cells.join(' | ')} |`
    })
    return [`## ${tag}`, '', ...head, ...rows, ''].join('\n')
  })
  return [legend, ...sections, streamSection(columns, somewhere), gitSection(columns, somewhere)].join('\n')
}

/**
 * Returns the table of streams. All but the first are WebSockets. A stream with several targets has
 * its narrowest.
 */
function streamSection(columns: readonly Credential[], somewhere: Somewhere): string {
  const sockets = streamPaths.map((path): Entrance => {
    const { targets, access } = streams[path]
    return { target: targets[0], access, path }
  })
  const rows = [eventStream, ...sockets].map((entrance) => {
    const cells = columns.map((column) => (answerTo(entrance, column, somewhere) === 'passes' ? '✓' : '·'))
    return `| \`${entrance.path}\` | ${cells.join(' | ')} |`
  })
  return ['## Streams', '', ...shortHead('Stream', columns), ...rows, ''].join('\n')
}

const shortHead = (title: string, columns: readonly Credential[]): string[] => [
  `| ${title} | ${columns.map(({ name }) => name).join(' | ')} |`,
  `|---|${columns.map(() => ':-:|').join('')}`,
]

/**
 * The calls to the built-in git host. `used` means that a service of the project uses the
 * repository.
 */
export const gitCalls = [
  { title: 'fetch what a service of the project uses', access: 'read', used: true },
  { title: 'push to it', access: 'write', used: true },
  { title: 'fetch what no service uses', access: 'read', used: false },
  { title: 'push to it, which also makes a repository', access: 'write', used: false },
] as const
export type GitCall = (typeof gitCalls)[number]

/** Returns the result of a call to the git host. A caller who may not fetch gets 404. */
export function gitAnswerTo({ access, used }: GitCall, { rights }: Credential, somewhere: Somewhere): Answer | 404 {
  if (!rights) return 401
  const usedAt = used ? [{ projectId: somewhere.projectId, mode: environmentModes[0] }] : []
  if (mayUseRepository(rights, access, usedAt)) return 'passes'
  return access === 'read' ? 404 : 403
}

const gitText = `A caller may fetch a repository of the built-in git host if they may read an environment with a service that uses it. A push affects
every such service and requires WRITE in all their environments. A caller who may not fetch gets 404. A service or a form may name a
repository that its caller may fetch, or one that no service uses yet. Otherwise the response is 403. Git tokens and registries belong to
the organization: a caller who may write a service may name any of them.
`

function gitSection(columns: readonly Credential[], somewhere: Somewhere): string {
  const rows = gitCalls.map((call) => {
    const cells = columns.map((column) => (gitAnswerTo(call, column, somewhere) === 'passes' ? '✓' : '·'))
    return `| ${call.title} | ${cells.join(' | ')} |`
  })
  return ['## Git host', '', gitText, ...shortHead('To', columns), ...rows, ''].join('\n')
}
