import type { AuditType } from '../audit.ts'
import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, List, NoBody, Nullable, Text, Type, Uuid } from '../schema.ts'
import { withData } from '../services/fields.ts'
import { deployedStackActions, planRunId } from '../services/terraform.ts'
import { Environment } from './environment.ts'
import { EnvironmentActionStatus, EnvironmentStatus } from './status.ts'

const most = 1000
/** Absent, null and empty all mean no services of that kind. */
const some = <T extends Parameters<typeof List>[0]>(items: T) => Type.Optional(Nullable(List(items, most)))
const version = <const N extends number>(length: N) => Type.Optional(Nullable(Text(length)))
const commit = version(64)
const tag = version(128)

const ServiceIds = Type.Object({
  application_ids: some(Uuid),
  container_ids: some(Uuid),
  database_ids: some(Uuid),
  job_ids: some(Uuid),
  helm_ids: some(Uuid),
  terraform_ids: some(Uuid),
})

const RebootServices = Type.Object({
  application_ids: some(Uuid),
  container_ids: some(Uuid),
  database_ids: some(Uuid),
})

/** Each service with the version to deploy. Without one, the version of its settings. */
const DeployServices = Type.Object({
  applications: some(Type.Object({ application_id: Uuid, git_commit_id: commit })),
  containers: some(Type.Object({ id: Uuid, image_tag: tag })),
  databases: some(Uuid),
  jobs: some(Type.Object({ id: Uuid, image_tag: tag, git_commit_id: commit })),
  helms: some(
    Type.Object({
      id: Uuid,
      chart_version: version(255),
      git_commit_id: commit,
      values_override_git_commit_id: commit,
    }),
  ),
  terraforms: some(
    Type.Object({
      id: Uuid,
      git_commit_id: commit,
      action: Type.Optional(Nullable(Enum(deployedStackActions))),
      plan_run_id: planRunId,
    }),
  ),
})

/** Each service with the execution whose version starts again. */
const RollbackServices = Type.Object({
  services: List(Type.Object({ id: Uuid, execution_id: Text(255, 1) }), most),
})

/** Omitted and null fields are copied from the source environment. */
const CloneEnvironment = Type.Object({
  name: Text(255, 1),
  cluster_id: Type.Optional(Nullable(Uuid)),
  mode: Type.Optional(Nullable(Enum(environmentModes))),
  project_id: Type.Optional(Nullable(Uuid)),
  apply_deployment_rule: Type.Optional(Nullable(Type.Boolean())),
  with_data: withData,
})

const path = '/environment/{environmentId}'
const onEnvironment = { method: 'POST', target: 'environment', tag: 'Environment Actions' } as const
const event = <const T extends AuditType>(type: T) => ({ type, target: 'ENVIRONMENT' }) as const

export const environmentActionOperations = {
  cloneEnvironment: operation({
    ...onEnvironment,
    path: `${path}/clone`,
    handler: 'cloneEnvironment',
    access: 'write',
    event: event('CLONE'),
    summary:
      'Copies an environment under another name. Its services appear together a moment later, and none is ' +
      'running. Requires WRITE on the source and on the destination.',
    body: CloneEnvironment,
    reply: Environment,
    status: 202,
  }),
  uninstallEnvironment: operation({
    ...onEnvironment,
    path: `${path}/uninstall`,
    handler: 'uninstallEnvironment',
    access: 'deploy',
    event: event('TRIGGER_UNINSTALL'),
    summary: 'Uninstalls every service of an environment with its volumes. Keeps all settings.',
    reply: EnvironmentStatus,
    status: 202,
  }),
  deployAllServices: operation({
    ...onEnvironment,
    path: `${path}/service/deploy`,
    handler: 'deploySelected',
    access: 'deploy',
    event: event('TRIGGER_DEPLOY'),
    summary:
      'Deploys the named services in one request, including skipped ones. Services that the cluster cannot ' +
      'run are left out with a reason.',
    body: DeployServices,
    reply: EnvironmentStatus,
    status: 202,
  }),
  rollbackSelectedServices: operation({
    ...onEnvironment,
    extension: true,
    path: `${path}/service/rollback`,
    handler: 'rollbackSelected',
    access: 'deploy',
    event: event('TRIGGER_DEPLOY'),
    summary:
      'Rolls the named services back to the versions of previous executions in one request, without a build. If ' +
      'one of them cannot be rolled back, nothing changes.',
    body: RollbackServices,
    reply: EnvironmentStatus,
    status: 202,
  }),
  rebootServices: operation({
    ...onEnvironment,
    path: `${path}/service/restart-service`,
    handler: 'restartSelected',
    access: 'deploy',
    event: event('TRIGGER_RESTART'),
    summary: 'Restarts the current releases of the named services in one request.',
    body: RebootServices,
    reply: EnvironmentActionStatus,
    status: 202,
  }),
  stopSelectedServices: operation({
    ...onEnvironment,
    path: `${path}/service/stop`,
    handler: 'stopSelected',
    access: 'deploy',
    event: event('TRIGGER_STOP'),
    summary: 'Stops the named services in one request. Their data is kept.',
    body: ServiceIds,
    reply: NoBody,
    status: 200,
  }),
  deleteSelectedServices: operation({
    ...onEnvironment,
    path: `${path}/service/delete`,
    handler: 'deleteSelected',
    access: 'write',
    event: event('TRIGGER_DELETE'),
    summary: 'Deletes the named services: at once if never deployed, otherwise after they are uninstalled.',
    query: Type.Object({ skipReconcile: Type.Optional(Type.Boolean()) }),
    body: ServiceIds,
    reply: NoBody,
    status: 200,
  }),
  uninstallSelectedServices: operation({
    ...onEnvironment,
    path: `${path}/service/uninstall`,
    handler: 'uninstallSelected',
    access: 'deploy',
    event: event('TRIGGER_UNINSTALL'),
    summary: 'Uninstalls the named services with their volumes. Keeps their settings.',
    body: ServiceIds,
    reply: NoBody,
    status: 200,
  }),
  cancelDeploymentRequest: operation({
    method: 'POST',
    path: '/deploymentQueue/{deploymentRequestId}/cancelDeployment',
    handler: 'cancelRequest',
    target: 'deploymentRequest',
    access: 'deploy',
    tag: 'Deployment Queue Actions',
    event: event('TRIGGER_CANCEL'),
    summary: 'Cancels a running or queued deployment request. 409 if it has ended.',
    reply: NoBody,
    status: 202,
  }),
} as const
