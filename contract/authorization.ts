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

/** Ids that stand for the project and the cluster that an operation is about. */
export interface Somewhere {
  readonly projectId: string
  readonly clusterId: string
}

/** A kind of caller; `rights` undefined is a request without a good token. */
export interface Credential {
  readonly name: string
  readonly rights: Rights | undefined
}

const custom = (projects: Readonly<Record<string, ProjectRights>>): Rights => ({ custom: { clusters: {}, projects } })

/** Every kind of caller: a custom role here says the same of each mode of environments of one project, and nothing else. */
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

/** What the door answers, before the request itself is looked at. */
export type Answer = 401 | 403 | 'passes'

/** What of an operation, or of a stream, says who comes in. */
type Entrance = Pick<Operation, 'access' | 'alsoAccess' | 'target' | 'path' | 'owner' | 'someMode' | 'elsewhere'>

/** Of an operation on something of the caller's own organization, which has an owner. */
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

Made from the contract by \`npm run emit\`; a test asks a server for every cell. ✓ passes the door: what the request itself says is looked
at afterwards. A dot is 403. Without a good token every operation answers 401, and an id of another organization answers 404 to everybody,
like one that nobody has.

| Column | Is |
|---|---|
| READ, DEPLOY, WRITE, ADMIN | an API token with that \`scope\` |
| none | a custom role that names no project: it reads the organization and its clusters |
| viewer, deployer, manager | a custom role with that permission for every mode of environments of the project in question |
| project admin | a custom role with \`is_admin\` of that project |
| Owner to Viewer | the built-in roles, of members and of API tokens |

A custom role with a permission for some modes only has it in environments of those modes. Of the project itself it may then read, and make
environments of modes whose MANAGER it is, on clusters of which it is ENV_CREATOR or ADMIN. On a cluster of which it is ADMIN it may
everything that ADMIN may there. Lists of projects and environments leave out what the caller may not read.

Where the query or the body names the place, the table says who may come in; the place is looked at then.

Only people can own an organization, accept an invitation or change an account: API tokens pass the door there and get 403 then. While an
organization has no owner, ADMIN is enough where the table says Owner.
`

/** The document docs/authorization.md. */
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

/** WebSocket but the first; of streams with several targets, the narrowest. */
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

/** What is asked of the built-in git host; `used`: of a repository that a service of the project in question uses. */
export const gitCalls = [
  { title: 'fetch what a service of the project uses', access: 'read', used: true },
  { title: 'push to it', access: 'write', used: true },
  { title: 'fetch what no service uses', access: 'read', used: false },
  { title: 'push to it, which also makes a repository', access: 'write', used: false },
] as const
export type GitCall = (typeof gitCalls)[number]

/** Who may not fetch is told that there is no such repository. */
export function gitAnswerTo({ access, used }: GitCall, { rights }: Credential, somewhere: Somewhere): Answer | 404 {
  if (!rights) return 401
  const usedAt = used ? [{ projectId: somewhere.projectId, mode: environmentModes[0] }] : []
  if (mayUseRepository(rights, access, usedAt)) return 'passes'
  return access === 'read' ? 404 : 403
}

const gitText = `A repository of the built-in git host is for those who may read an environment with a service that uses it; a push concerns every such
service, and needs WRITE in the environments of all of them. Who may not fetch gets 404. A service, or a form that looks
into a repository, names one that its caller may fetch, or one that no service uses yet; otherwise the answer is 403. Git tokens and
registries belong to the organization: whoever may write a service may name any of them.
`

function gitSection(columns: readonly Credential[], somewhere: Somewhere): string {
  const rows = gitCalls.map((call) => {
    const cells = columns.map((column) => (gitAnswerTo(call, column, somewhere) === 'passes' ? '✓' : '·'))
    return `| ${call.title} | ${cells.join(' | ')} |`
  })
  return ['## Git host', '', gitText, ...shortHead('To', columns), ...rows, ''].join('\n')
}
