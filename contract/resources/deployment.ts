import { origins, serviceTypes, stageStatuses, triggerActions } from '../enums.ts'
import { Duration, Enum, extension, Integer, Nullable, Page, Timestamp, Type, Uuid } from '../schema.ts'
import { PlanCounts } from '../services/stack-records.ts'
import { stateNames } from '../states.ts'
import { StatusDetails } from './status.ts'

export const Commit = Type.Object({
  created_at: Timestamp,
  git_commit_id: Type.String(),
  tag: Type.String(),
  message: Type.String(),
  author_name: Type.String(),
  author_avatar_url: Type.Optional(Type.String()),
  commit_page_url: Type.Optional(Type.String()),
})

export const AuditingData = Type.Object({
  created_at: Timestamp,
  updated_at: Timestamp,
  triggered_by: Type.String(),
  origin: Enum(origins),
})

/** The command of a job for an event. */
const run = { arguments: Type.Array(Type.String()), entrypoint: Type.Optional(Type.String()) }
const Event = Type.Optional(Type.Object(run))

/** The deployed version, with the fields that its kind has. */
const Details = Type.Object({
  commit: Nullable(Commit),
  build_pod_name: Nullable(Type.String()),
  image_name: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
  arguments: Type.Optional(Type.Array(Type.String())),
  entrypoint: Type.Optional(Type.String()),
  schedule: Type.Optional(
    Type.Object({
      on_start: Event,
      on_stop: Event,
      on_delete: Event,
      cron_job: Type.Optional(Type.Object({ ...run, scheduled_at: Type.String(), timezone: Type.String() })),
      lifecycle_type: Type.Optional(Type.String()),
    }),
  ),
  job_type: Type.Optional(Enum(['CRON', 'LIFECYCLE'])),
  repository: Type.Optional(Type.Object({ chart_name: Type.String(), chart_version: Type.String() })),
  values_commit_id: Type.Optional(extension(Type.String({ description: 'the commit of the values of a chart' }))),
})

/** A page of the newer form of a history. */
export const HistoryPage = Type.Object({
  pageSize: Type.Optional(Integer(1)),
  startId: Type.Optional(
    Type.String({ maxLength: 64, description: 'continues after the deployment of this execution' }),
  ),
})

/** One deployment of one service. */
export const DeploymentHistoryService = Type.Object({
  identifier: Type.Object({
    name: Type.String(),
    service_id: Uuid,
    service_type: Enum(serviceTypes),
    execution_id: Type.String(),
  }),
  status: Enum(stateNames),
  auditing_data: AuditingData,
  details: Details,
  status_details: StatusDetails,
  icon_uri: Type.String(),
  total_duration: Nullable(Duration),
  reason: Nullable(Type.String()),
  /** The run of a Terraform stack and the number of resources by the effect of its plan. */
  stack_run: Nullable(Type.Object({ id: Uuid, counts: Nullable(PlanCounts) })),
})

export const DeploymentHistory = Page(DeploymentHistoryService)

/** A running or queued deployment request. */
export const QueuedDeployment = Type.Object({
  identifier: Type.Object({ deployment_request_id: Uuid, environment_id: Uuid }),
  auditing_data: Type.Object({ triggered_by: Type.String(), origin: Enum(origins) }),
  trigger_action: Enum(triggerActions),
  stages: Type.Array(
    Type.Object({
      name: Type.String(),
      status: Enum(stageStatuses),
      services: Type.Array(
        Type.Object({
          identifier: Type.Object({ service_id: Uuid, service_type: Enum(serviceTypes), name: Type.String() }),
          status: Enum(stageStatuses),
          icon_uri: Type.String(),
        }),
      ),
    }),
  ),
})

/** One log line of a deployment. */
export const EnvironmentLog = Type.Object({
  type: Type.String(),
  timestamp: Timestamp,
  details: Type.Object({
    organization_id: Uuid,
    cluster_id: Uuid,
    execution_id: Type.String(),
    transmitter: Type.Object({ id: Uuid, name: Type.String(), type: Type.String() }),
    stage: Type.Object({ step: Type.String(), id: Nullable(Uuid), name: Nullable(Type.String()) }),
  }),
  error: Nullable(
    Type.Object({
      tag: Type.String(),
      user_log_message: Type.String(),
      hint_message: Type.Optional(Type.String()),
    }),
  ),
  message: Nullable(Type.Object({ safe_message: Type.String() })),
})
