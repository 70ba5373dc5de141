import type { AuditType } from './audit.ts'
import type { Access } from './operation.ts'
import { EnvironmentLog } from './resources/deployment.ts'
import { StatusesWithStages } from './resources/deployment-history.ts'
import { EnvironmentStatus } from './resources/status.ts'
import {
  ClusterMetrics,
  ClusterStatus,
  Log,
  Metrics,
  milliseconds,
  type RunningState,
  ServiceStatus,
} from './resources/stream.ts'
import { Enum, Integer, List, Results, Text, type TObject, type TSchema, Type, Uuid } from './schema.ts'
import type { KindName } from './services/kinds.ts'

/** The streams of the API as data: what a client names, what that needs, and what it is sent. WebSocket, but `/organization/{id}/stream`. */

export const observedStates = ['absent', 'running', 'starting', 'failing', 'stopped'] as const
/** What an engine was seen to run of a service. */
export type ObservedState = (typeof observedStates)[number]
export { type RunningState, runningStateNames } from './resources/stream.ts'
/** The API's word for it. */
export const runningStates = {
  absent: 'STOPPED',
  running: 'RUNNING',
  starting: 'STARTING',
  failing: 'ERROR',
  stopped: 'STOPPED',
} as const satisfies Record<ObservedState, RunningState>

/** Types of the events of `GET /organization/{organizationId}/stream`, and what their data has beside time and organization. */
export const changeTypes = {
  'environment.created': ['project_id', 'environment_id'],
  'environment.deleted': ['project_id', 'environment_id'],
  'service.created': ['project_id', 'environment_id', 'service_id', 'kind', 'state'],
  'service.deleted': ['project_id', 'environment_id', 'service_id', 'kind', 'state'],
  'service.state': ['project_id', 'environment_id', 'service_id', 'kind', 'state'],
  'service.running': ['project_id', 'environment_id', 'service_id', 'kind', 'state'],
  'deployment.status': ['project_id', 'environment_id', 'deployment_request_id', 'execution_id', 'action', 'status'],
  'cluster.status': ['cluster_id', 'status'],
} as const

/** Where the services of each kind stand in a message of `/service/status`, and what they have there beside their pods. */
export const statusLists = {
  application: { list: 'applications', has: 'certificates' },
  container: { list: 'containers', has: 'certificates' },
  job: { list: 'jobs', has: 'certificates' },
  helm: { list: 'helms', has: 'certificates' },
  database: { list: 'databases', has: 'nothing' },
  terraform: { list: 'terraform', has: 'action' },
} as const satisfies Record<KindName, { readonly list: string; readonly has: 'certificates' | 'nothing' | 'action' }>

const optionalId = Type.Optional(Uuid)
const inCluster = { organization: Uuid, cluster: Uuid }
const ofService = { ...inCluster, project: Uuid, environment: Uuid, service: Uuid }
const serviceType = Type.Optional(Text(40))
const replicaName = Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]*$' }))
const terminal = { tty_width: Integer(1, 1000), tty_height: Integer(1, 1000) }

/** What a stream is about: the narrowest of what its query names is loaded inside the caller's organization. */
export type StreamTarget = 'service' | 'environment' | 'project' | 'cluster'

export interface Stream {
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
  '/service/logs': { targets: ['service'], access: 'read', query: Type.Object(serviceLogs), message: Log },
  '/service/status': {
    targets: ['environment', 'project', 'cluster'],
    access: 'read',
    query: Type.Object({ ...inCluster, project: optionalId, environment: optionalId }),
    message: ServiceStatus,
  },
  '/service/pods': {
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: serviceType }),
    message: Type.Object({
      pods: Type.Array(Type.Object({ name: Type.String(), ports: Type.Array(Type.Integer()) })),
    }),
  },
  '/service/metrics': {
    targets: ['service'],
    access: 'read',
    query: Type.Object({ ...ofService, service_type: Text(40) }),
    message: Metrics,
  },
  '/deployment/status': {
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
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterStatus,
  },
  '/cluster/metrics': {
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: ClusterMetrics,
  },
  '/cluster/node': {
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/cluster/nodes': {
    targets: ['cluster'],
    access: 'read',
    query: Type.Object(inCluster),
    message: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  },
  '/infra/logs': {
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
    targets: ['service'],
    access: 'write',
    query: Type.Object(shell),
    list: 'command',
    message: undefined,
    event: 'SHELL',
  },
  '/shell/ephemeral': {
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
    targets: ['service'],
    access: 'write',
    query: Type.Object({ ...ofService, service_type: serviceType, port: Integer(1, 65_535), pod_name: replicaName }),
    message: undefined,
    event: 'PORT_FORWARD',
  },
  '/shell/debug': {
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
