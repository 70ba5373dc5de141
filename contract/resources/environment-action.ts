import type { AuditType } from '../audit.ts'
import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, List, NoBody, Nullable, Text, Type, Uuid } from '../schema.ts'
import { withData } from '../services/fields.ts'
import { Environment } from './environment.ts'
import { EnvironmentActionStatus, EnvironmentStatus } from './status.ts'

const most = 1000
/** Absent, null and empty mean the same: none of that kind. */
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

/** Each with the version that it is to be deployed in; without one, that of its settings. */
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
      action: Type.Optional(Nullable(Enum(['PLAN', 'FORCE_UNLOCK', 'MIGRATE_STATE']))),
    }),
  ),
})

/** What is left out or null is as in the environment that is copied. */
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
      'Copies an environment under another name; all its services appear together a moment later. Nothing of the copy runs. Needs WRITE on the source, and on the place of the copy.',
    body: CloneEnvironment,
    reply: Environment,
    status: 202,
  }),
  exportEnvironmentConfigurationIntoTerraform: operation({
    method: 'GET',
    target: 'environment',
    tag: 'Environment Export',
    path: `${path}/terraformExport`,
    handler: 'exportEnvironment',
    access: 'read',
    summary:
      'A zip with the environment as Terraform files. Secrets are variables; their values come along for admins who ask for them.',
    query: Type.Object({ exportSecrets: Type.Optional(Type.Boolean()) }),
    contentType: 'application/octet-stream',
    reply: Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' }),
    status: 200,
  }),
  uninstallEnvironment: operation({
    ...onEnvironment,
    path: `${path}/uninstall`,
    handler: 'uninstallEnvironment',
    access: 'deploy',
    event: event('TRIGGER_UNINSTALL'),
    summary: 'Removes what runs of every service, with its volumes, and keeps all settings.',
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
      'Deploys the named services in one request, including skipped ones. Services that the cluster cannot run are left out, with the reason.',
    body: DeployServices,
    reply: EnvironmentStatus,
    status: 202,
  }),
  rebootServices: operation({
    ...onEnvironment,
    path: `${path}/service/restart-service`,
    handler: 'restartSelected',
    access: 'deploy',
    event: event('TRIGGER_RESTART'),
    summary: 'Starts the releases of the services named anew, in one request.',
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
    summary: 'Stops the services named, in one request; their data stays.',
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
    summary: 'Deletes the services named: at once what was never deployed, the others after what runs of them is gone.',
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
    summary: 'Removes what runs of the services named, with its volumes, and keeps their settings.',
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
    summary: 'Cancels a request that runs or waits; 409 when it has ended.',
    reply: NoBody,
    status: 202,
  }),
} as const
