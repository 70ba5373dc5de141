import type { AuditType } from './audit.ts'
import type { Access } from './operation.ts'
import { EnvironmentLog } from './resources/deployment.ts'
import { StatusesWithStages } from './resources/deployment-history.ts'
import { EnvironmentStatus } from './resources/status.ts'
import { ClusterMetrics, ClusterStatus, Log, Metrics, milliseconds, ServiceStatus } from './resources/stream.ts'
import { Enum, extension, Integer, List, Results, Text, type TObject, type TSchema, Type, Uuid } from './schema.ts'

/** The WebSocket streams of the API as data: queries, permissions and messages. */

const optionalId = Type.Optional(Uuid)
const inCluster = { organization: Uuid, cluster: Uuid }
const ofService = { ...inCluster, project: Uuid, environment: Uuid, service: Uuid }
const serviceType = Type.Optional(Text(40))
const replicaName = Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$' }))
/** Both 0 means no terminal. */
const terminal = { tty_width: Integer(0, 1000), tty_height: Integer(0, 1000) }

/** The target of a stream. It is loaded inside the caller's organization. */
export type StreamTarget = 'service' | 'environment' | 'project' | 'cluster'

export interface Stream {
  readonly summary: string
  /**
   * The narrowest first. The first one that the query names is the target. All ids in the query
   * must belong together.
   */
  readonly targets: readonly StreamTarget[]
  readonly access: Access
  readonly query: TObject
  /** The schema of each JSON message. Undefined means bytes in both directions. */
  readonly message: TSchema | undefined
  /** The name of a list of strings that the query passes as `name=…&name=…` or `name[0]=…`. */
  readonly list?: 'command'
  /** Why the stream is always closed at once. */
  readonly refuses?: string
  /** The audit event for opening the stream. */
  readonly event?: AuditType
}

const nothingThere = 'A machine with Docker has no such component. Use /service/logs and /deployment/logs.'
const serviceLogs = {
  ...ofService,
  pod_name: replicaName,
  deployment_id: Type.Optional(Text(100)),
  query: Type.Optional(Text(1000)),
  start: Type.Optional(Type.String({ maxLength: 40 })),
  end: Type.Optional(extension(Type.String({ maxLength: 40 }))),
  limit: Type.Optional(Integer(0, 10_000)),
  batch: Type.Optional(extension(Integer(1, 1000))),
  service_type: serviceType,
}
const shell = {
  ...ofService,
  pod_name: replicaName,
  container_name: replicaName,
  ...terminal,
}

/** All streams by path. */
export const streams = {
  '/service/logs': {
    summary:
      'Streams the last log lines of a service that match the query, then new ones. With `end` it ends after ' +
      'the last lines up to that moment. With `batch` each message is a list of at most so many lines.',
    targets: ['service'],
    access: 'read',
    query: Type.Object(serviceLogs),
    message: Type.Union([Log, Type.Array(Log)]),
  },
  '/service/status': {
    summary: 'Streams the running pods of an environment, project or cluster, then each environment that changes.',
    targets: ['environment', 'project', 'cluster'],
    access: 'read',
    query: Type.Object({ ...inCluster, project: optionalId, environment: optionalId }),
    message: ServiceStatus,
  },
  '/service/pods': {
    summary: 'Streams the running replicas of a service whenever they change.',
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: serviceType }),
    message: Type.Object({
      pods: Type.Array(Type.Object({ name: Type.String(), ports: Type.Array(Type.Integer()) })),
    }),
  },
  '/service/metrics': {
    summary: 'Streams the resource usage of each replica of a service every five seconds.',
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: Text(40) }),
    message: Metrics,
  },
  '/deployment/status': {
    summary:
      'Streams the statuses of an environment by stages whenever one changes, for now or for the execution ' +
      '`version`. With a project, streams the statuses of its environments.',
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
    summary: 'Streams the log lines of the execution `version`, or of the last one and all later ones.',
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
    summary: 'Streams whether the engine of a cluster responds.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterStatus,
  },
  '/cluster/metrics': {
    summary: 'Streams the machines of a cluster: capacity, reservations, use, pods and conditions.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterMetrics,
  },
  '/cluster/node': {
    summary: 'Streams the list of machines of a cluster.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/cluster/nodes': {
    summary: 'Streams the list of machines of a cluster.',
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/infra/logs': {
    summary: 'Streams the log lines of components of a cluster.',
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
      'Runs `command`, by default `sh`, in a replica until the connection closes. With `tty_width` and ' +
      '`tty_height` of 0 it has no terminal, and a message with the single byte 04 ends its input. With ' +
      '`resize=text` a text message {"tty_width":80,"tty_height":24} sets the size of the terminal.',
    targets: ['service'],
    access: 'write',
    query: Type.Object({ ...shell, resize: Type.Optional(extension(Enum(['text']))) }),
    list: 'command',
    message: undefined,
    event: 'SHELL',
  },
  '/shell/ephemeral': {
    summary: 'Opens a terminal in an additional container of a service.',
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
    refuses: 'Additional containers are not supported. Use /shell/exec.',
  },
  '/shell/portforward': {
    summary: 'Forwards a TCP port of a replica.',
    targets: ['service'],
    access: 'write',
    query: Type.Object({ ...ofService, service_type: serviceType, port: Integer(1, 65_535), pod_name: replicaName }),
    message: undefined,
    event: 'PORT_FORWARD',
  },
  '/shell/debug': {
    summary: 'Opens a terminal on a machine of a cluster.',
    targets: ['cluster'],
    access: 'admin',
    query: Type.Object({
      ...inCluster,
      flavor: Enum(['REGULAR_PRIVILEGE', 'FULL_PRIVILEGE']),
      ...terminal,
      node_selector: Type.Optional(Text(200)),
    }),
    message: undefined,
    refuses: 'The API has no privileged shell on the machine. Sign in to the machine itself.',
  },
} as const satisfies Record<string, Stream>

export type StreamPath = keyof typeof streams
/** The keys of the table. Object.keys loses their type. */
export const streamPaths = Object.keys(streams) as StreamPath[]

/** `command` is an argument list for the engine, never a line for a shell. */
export const Command = Type.Object({ command: List(Text(4096, 1), 64) })
