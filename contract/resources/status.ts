import {
  actionStatuses,
  deploymentStatuses,
  origins,
  serviceActions,
  serviceSteps,
  stageStatuses,
  stepStatuses,
  subActions,
} from '../enums.ts'
import { Enum, Nullable, Timestamp, Type, Uuid } from '../schema.ts'
import { shortStateNames, stateNames } from '../states.ts'

export const StatusDetails = Type.Object({
  action: Enum(serviceActions),
  status: Enum(actionStatuses),
  sub_action: Enum(subActions),
})

export const ServiceStepMetrics = Type.Object({
  total_duration_sec: Nullable(Type.Integer()),
  total_computing_duration_sec: Type.Integer(),
  details: Type.Array(
    Type.Object({ step_name: Enum(serviceSteps), status: Enum(stepStatuses), duration_sec: Type.Integer() }),
  ),
})

/** The status of a service. */
export const Status = Type.Object({
  id: Uuid,
  state: Enum(stateNames),
  service_deployment_status: Enum(deploymentStatuses),
  last_deployment_date: Nullable(Timestamp),
  is_part_last_deployment: Type.Boolean(),
  steps: Type.Optional(ServiceStepMetrics),
  execution_id: Type.Optional(Type.String()),
  status_details: StatusDetails,
  deployment_request_id: Nullable(Uuid),
  deployment_requests_count: Type.Integer(),
  reason: Nullable(Type.String({ description: 'why the last deployment failed, or why the service is not running' })),
})

/** The same, with the short states of the specification too. */
export const ShortStatus = Type.Object({ ...Status.properties, state: Enum(shortStateNames) })

/**
 * The response to deploy, stop, restart …: the deployment as in the specification, and the whole
 * Status.
 */
export const DeploymentAccepted = Type.Object({
  ...Status.properties,
  id: Type.String({ description: 'the id of the deployment request' }),
  status: Type.Literal('QUEUED'),
  /** The id of the service, under the name of its kind. */
  application_id: Type.Optional(Uuid),
  container_id: Type.Optional(Uuid),
  database_id: Type.Optional(Uuid),
  job_id: Type.Optional(Uuid),
  helm_id: Type.Optional(Uuid),
  terraform_id: Type.Optional(Uuid),
  created_at: Timestamp,
})

export const EnvironmentStatus = Type.Object({
  id: Uuid,
  state: Enum(stateNames),
  last_deployment_date: Nullable(Timestamp),
  last_deployment_state: Enum(stateNames),
  last_deployment_id: Nullable(Type.String()),
  total_deployment_duration_in_seconds: Nullable(Type.Integer()),
  origin: Nullable(Enum(origins)),
  triggered_by: Nullable(Type.String()),
  deployment_status: Enum(deploymentStatuses),
  deployment_request_id: Nullable(Uuid),
})

/**
 * The response to an action on an environment. The public API declares it as the status of a
 * service in one place. The fields that an environment lacks are those of its first service.
 */
export const EnvironmentActionStatus = Type.Object({
  ...Type.Partial(Status).properties,
  ...EnvironmentStatus.properties,
})

/** The statuses of services, by kind. */
export const statusesOfKinds = {
  applications: Type.Array(Status),
  containers: Type.Array(Status),
  jobs: Type.Array(Status),
  databases: Type.Array(Status),
  helms: Type.Array(Status),
  terraforms: Type.Array(Status),
}
export const EnvironmentStatuses = Type.Object({ environment: EnvironmentStatus, ...statusesOfKinds })

export const stageStatus = Enum(stageStatuses)
