import type { AuditType } from './audit.ts'
import type { Access } from './operation.ts'
import { EnvironmentLog } from './resources/deployment.ts'
import { StatusesWithStages } from './resources/deployment-history.ts'
import { EnvironmentStatus } from './resources/status.ts'
import { ClusterMetrics, ClusterStatus, Log, Metrics, milliseconds, ServiceStatus } from './resources/stream.ts'
import { Enum, Integer, List, Results, Text, type TObject, type TSchema, Type, Uuid } from './schema.ts'

/** The WebSocket streams of the API as data: what a client names, what that needs, and what it is sent. */

const optionalId = Type.Optional(Uuid)
const inCluster = { organization: Uuid, cluster: Uuid }
const ofService = { ...inCluster, project: Uuid, environment: Uuid, service: Uuid }
const serviceType = Type.Optional(Text(40))
const replicaName = Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$' }))
/** Both 0: without a terminal. */
const terminal = { tty_width: Integer(0, 1000), tty_height: Integer(0, 1000) }

/** What a stream is about: the narrowest of what its query names is loaded inside the caller's organization. */
export type StreamTarget = 'service' | 'environment' | 'project' | 'cluster'

export interface Stream {
  readonly summary: string
  /** The narrowest first: the first of these that the query names is the target, and all that it names must belong together. */
  readonly targets: readonly StreamTarget[]
  readonly access: Access
  readonly query: TObject
  /** Each message is one JSON value of this schema; undefined: bytes in both directions. */
  readonly message: TSchema | undefined
  /** A list of texts that the query gives as `name=…&name=…` or `name[0]=…`. */
  readonly list?: 'command'
  /** Why it is closed at once. */
  readonly refuses?: string
  /** What the record of changes says when it is opened. */
  readonly event?: AuditType
}

const nothingThere = 'There is no such component on a machine with Docker; read /service/logs and /deployment/logs.'
const serviceLogs = {
  ...ofService,
  pod_name: replicaName,
  deployment_id: Type.Optional(Text(100)),
  query: Type.Optional(Text(1000)),
  start: Type.Optional(Type.String({ maxLength: 40 })),
  limit: Type.Optional(Integer(0, 10_000)),
  service_type: serviceType,
}
const shell = {
  ...ofService,
  pod_name: replicaName,
  container_name: replicaName,
  ...terminal,
}

/** Every stream by its path. */
export const streams = {
  '/service/logs': {
    summary: 'The last lines of a service that fit the query, then new ones as they come.',
    targets: ['service'],
    access: 'read',
    query: Type.Object(serviceLogs),
    message: Log,
  },
  '/service/status': {
    summary: 'What runs in the named environment, project or cluster, then each environment where that changed.',
    targets: ['environment', 'project', 'cluster'],
    access: 'read',
    query: Type.Object({ ...inCluster, project: optionalId, environment: optionalId }),
    message: ServiceStatus,
  },
  '/service/pods': {
    summary: 'The replicas of a service that run, whenever they are others.',
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: serviceType }),
    message: Type.Object({
      pods: Type.Array(Type.Object({ name: Type.String(), ports: Type.Array(Type.Integer()) })),
    }),
  },
  '/service/metrics': {
    summary: 'What each replica of a service uses, every five seconds.',
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: Text(40) }),
    message: Metrics,
  },
  '/deployment/status': {
    summary:
      'The statuses of an environment by stages, of now or of the execution `version`, or of the environments of a project, whenever one changed.',
    targets: ['environment', 'project'],
    access: 'read',
    query: Type.Object({
      organization: Uuid,
      cluster: optionalId,
      project: Uuid,
      environment: optionalId,
      version: Type.Optional(Text(100)),
    }),
    message: Type.Union([StatusesWithStages, Results(EnvironmentStatus)]),
  },
  '/deployment/logs': {
    summary: 'The lines of the execution `version`, or of the last one and those that follow it.',
    targets: ['environment'],
    access: 'read',
    query: Type.Object({
      organization: Uuid,
      cluster: optionalId,
      project: Uuid,
      environment: Uuid,
      version: Type.Optional(Text(100)),
    }),
    message: Type.Array(EnvironmentLog),
  },
  '/cluster/status': {
    summary: 'Whether the engine of the cluster answers.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterStatus,
  },
  '/cluster/metrics': {
    summary: 'What the machine of the cluster uses.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterMetrics,
  },
  '/cluster/node': {
    summary: 'The machine of the cluster.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/cluster/nodes': {
    summary: 'The machine of the cluster.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/infra/logs': {
    summary: 'Lines of components of a cluster.',
    targets: ['service', 'environment', 'project', 'cluster'],
    access: 'read',
    query: Type.Object({
      ...inCluster,
      project: optionalId,
      environment: optionalId,
      service: optionalId,
      infra_component_type: Text(100),
    }),
    message: Type.Object({ created_at: milliseconds, message: Type.String() }),
    refuses: nothingThere,
  },
  '/shell/exec': {
    summary:
      'A command in a replica: `command`, or `sh`. With `tty_width` and `tty_height` of 0 it has no terminal, and the byte 04 as a message of its own ends its input. It ends with its connection.',
    targets: ['service'],
    access: 'write',
    query: Type.Object(shell),
    list: 'command',
    message: undefined,
    event: 'SHELL',
  },
  '/shell/ephemeral': {
    summary: 'A terminal in a container beside those of a service.',
    targets: ['service'],
    access: 'write',
    query: Type.Object({
      ...shell,
      mode: Type.Optional(Text(40)),
      cpu_override: Type.Optional(Text(40)),
      memory_override: Type.Optional(Text(40)),
    }),
    list: 'command',
    message: undefined,
    refuses: 'Containers beside those of a service are not made; use /shell/exec.',
  },
  '/shell/portforward': {
    summary: 'A TCP port of a replica.',
    targets: ['service'],
    access: 'write',
    query: Type.Object({ ...ofService, service_type: serviceType, port: Integer(1, 65_535), pod_name: replicaName }),
    message: undefined,
    event: 'PORT_FORWARD',
  },
  '/shell/debug': {
    summary: 'A terminal on a machine of the cluster.',
    targets: ['cluster'],
    access: 'admin',
    query: Type.Object({
      ...inCluster,
      flavor: Enum(['REGULAR_PRIVILEGE', 'FULL_PRIVILEGE']),
      ...terminal,
      node_selector: Type.Optional(Text(200)),
    }),
    message: undefined,
    refuses: 'Nobody gets a privileged shell on the machine through the API; use the machine itself.',
  },
} as const satisfies Record<string, Stream>

export type StreamPath = keyof typeof streams
/** The keys of the table; Object.keys forgets their type. */
export const streamPaths = Object.keys(streams) as StreamPath[]

/** What `command` may be: an argument list for the engine, never a line for a shell. */
export const Command = Type.Object({ command: List(Text(4096, 1), 64) })
