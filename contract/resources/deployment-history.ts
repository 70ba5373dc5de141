import { origins, serviceTypes, stageStatuses, stageSteps, stepStatuses, triggerActions } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Duration, Enum, Nullable, Page, Results, Timestamp, Type, Uuid } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'
import { requestStatuses, stateNames } from '../states.ts'
import { AuditingData, Commit, DeploymentHistoryService, HistoryPage } from './deployment.ts'
import { EnvironmentStatus, ServiceStepMetrics, StatusDetails, statusesOfKinds } from './status.ts'

/** One deployment of an environment, by stages. */
const DeploymentHistoryEnvironment = Type.Object({
  identifier: Type.Object({ execution_id: Type.String(), environment_id: Uuid }),
  auditing_data: AuditingData,
  status: Enum(stateNames),
  trigger_action: Enum(triggerActions),
  action_status: Enum(requestStatuses),
  total_duration: Duration,
  stages: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Enum(stageStatuses),
      duration: Duration,
      services: Type.Array(DeploymentHistoryService),
    }),
  ),
})

/** One deployment of one service in the older form of the history. */
const deployed = { ...base, name: Type.String(), status: Enum(stateNames) }
const commit = { commit: Nullable(Commit) }
const image = {
  image_name: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
  arguments: Type.Optional(Type.Array(Type.String())),
  entrypoint: Type.Optional(Type.String()),
}
const schedule = Type.Optional(
  Type.Object({
    event: Enum(['ON_START', 'ON_STOP', 'ON_DELETE', 'CRON']),
    schedule_at: Nullable(Type.String()),
  }),
)
const chart = Type.Object({ chart_name: Type.String(), chart_version: Type.String() })

const ofKind = {
  application: Type.Object({ ...deployed, ...commit }),
  container: Type.Object({ ...deployed, ...image }),
  database: Type.Object(deployed),
  job: Type.Object({ ...deployed, ...image, ...commit, schedule }),
  helm: Type.Object({ ...deployed, ...commit, repository: Nullable(chart) }),
  terraform: Type.Object({ ...deployed, ...commit }),
} as const satisfies Record<KindName, unknown>

/** The deployment after which to continue, further back in time. */
const startId = Type.Object({ startId: Type.Optional(Uuid) })

/** The result of an application's deployment in its own list. One in progress has none yet. */
const Brief = Type.Object({
  ...base,
  name: Type.String(),
  ...commit,
  status: Type.Optional(Enum(['FAILED', 'SUCCESS'])),
})

const handlers = {
  application: 'listServiceHistoryBrief',
  container: 'listServiceHistoryV1',
  database: 'listServiceHistoryV1',
  job: 'listServiceHistoryV1',
  helm: 'listServiceHistoryV1',
  terraform: 'listServiceHistoryV1',
} as const satisfies Record<KindName, string>
const replies = { ...ofKind, application: Brief } as const

/** The older form of the history of one kind of service. */
export const historyTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}DeploymentHistory': operation({
    ...onService(name, ' Deployment History'),
    method: 'GET',
    path: `${pathOf(name)}/deploymentHistory`,
    access: 'read',
    summary:
      'Lists the deployments of a service, newest first, twenty at a time. `startId` continues after that deployment.',
    query: startId,
    handler: handlers[name],
    reply: Page(replies[name]),
    status: 200,
  }),
})

/** The statuses of an environment, by stages. */
export const StatusesWithStages = Type.Object({
  environment: EnvironmentStatus,
  stages: Type.Array(
    Type.Object({
      ...statusesOfKinds,
      stage: Type.Object({
        id: Uuid,
        name: Type.String(),
        description: Type.String(),
        status: Type.Optional(Enum(stageStatuses)),
        steps: Type.Object({
          stage_id: Uuid,
          total_duration_sec: ServiceStepMetrics.properties.total_duration_sec,
          details: Type.Array(
            Type.Object({
              stage_id: Uuid,
              step_name: Enum(stageSteps),
              status: Enum(stepStatuses),
              duration_sec: Type.Integer(),
            }),
          ),
        }),
      }),
    }),
  ),
})

/** A request that waits for or works on one service. */
const QueuedService = Type.Object({
  identifier: Type.Object({
    deployment_request_id: Uuid,
    service_id: Uuid,
    service_type: Enum(serviceTypes),
    name: Type.String(),
  }),
  auditing_data: Type.Object({ triggered_by: Type.String(), origin: Enum(origins) }),
  status_details: StatusDetails,
  icon_uri: Type.String(),
})

const logScopes = ['APPLICATION', 'DATABASE', 'ENVIRONMENT'] as const
/** The scope of a line of the older log, which knows two kinds of services. */
export function logScopeOf(type: string): (typeof logScopes)[number] {
  const name = type.toUpperCase()
  if (name === 'ENVIRONMENT') return 'ENVIRONMENT'
  return name === 'DATABASE' ? 'DATABASE' : 'APPLICATION'
}
const logStates = [
  'CANCELED',
  'CANCELING',
  'DELETED',
  'DELETE_ERROR',
  'DELETE_IN_PROGRESS',
  'DEPLOYED',
  'DEPLOYMENT_ERROR',
  'DEPLOYMENT_IN_PROGRESS',
  'ERROR',
  'PAUSED',
  'PAUSE_ERROR',
  'PAUSE_IN_PROGRESS',
  'WAITING',
] as const
export type LogState = (typeof logStates)[number]

/** One line of the older form of the log. */
const EnvironmentLogEntry = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  scope: Type.Object({ type: Enum(logScopes), name: Type.String(), id: Uuid }),
  state: Enum(logStates),
  message: Nullable(Type.String()),
  execution_id: Type.String(),
})

const path = '/environment/{environmentId}'
const read = { method: 'GET', access: 'read', status: 200 } as const
const ofEnvironment = { ...read, target: 'environment', tag: 'Environment Deployment History' } as const

export const deploymentHistoryOperations = {
  listEnvironmentDeploymentHistory: operation({
    ...ofEnvironment,
    path: `${path}/deploymentHistory`,
    handler: 'listEnvironmentHistoryV1',
    summary:
      'Lists the deployments of an environment, newest first, twenty at a time. `startId` continues after ' +
      'that deployment.',
    query: startId,
    reply: Page(
      Type.Object({
        ...base,
        status: Enum(stateNames),
        origin: Enum(origins),
        triggered_by: Type.String(),
        applications: Type.Array(ofKind.application),
        containers: Type.Array(ofKind.container),
        databases: Type.Array(ofKind.database),
        jobs: Type.Array(ofKind.job),
        helms: Type.Array(ofKind.helm),
        terraforms: Type.Array(ofKind.terraform),
      }),
    ),
  }),
  listEnvironmentDeploymentHistoryV2: operation({
    ...ofEnvironment,
    path: `${path}/deploymentHistoryV2`,
    handler: 'listEnvironmentHistory',
    summary: 'Lists the deployments of an environment with their stages, newest first, at most 20 at a time.',
    query: HistoryPage,
    reply: Page(DeploymentHistoryEnvironment),
  }),
  getEnvironmentStatusesWithStages: operation({
    ...ofEnvironment,
    tag: 'Environment Main Calls',
    path: `${path}/statusesWithStages`,
    handler: 'getStatusesWithStages',
    summary: 'Returns the status of an environment and of each of its services, by stages.',
    reply: StatusesWithStages,
  }),
  listEnvironmentLog: operation({
    ...ofEnvironment,
    tag: 'Environment Logs',
    path: `${path}/log`,
    handler: 'listEnvironmentLog',
    summary: 'Lists the log lines of the last deployment of an environment.',
    reply: Results(EnvironmentLogEntry),
  }),
  listDeploymentRequestByServiceId: operation({
    ...read,
    target: 'service',
    tag: 'Environment Main Calls',
    path: '/service/{serviceId}/deploymentQueue',
    handler: 'listServiceDeploymentQueue',
    summary: 'Lists the running and queued deployment requests of a service, in order.',
    reply: Results(QueuedService),
  }),
  getDeploymentStatusByDeploymentRequestId: operation({
    ...read,
    target: 'caller',
    tag: 'Environment Deployment Status',
    path: '/environment/deploymentStatus',
    handler: 'getRequestStatus',
    summary: 'Returns the state of an environment after a deployment request.',
    query: Type.Object({ deploymentRequestId: Uuid }),
    reply: Type.Object({ deployment_request_id: Uuid, environment_id: Uuid, status: Enum(stateNames) }),
  }),
} as const
