import type { AuditType } from '../audit.ts'
import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Ref, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'
import { EnvironmentLog, QueuedDeployment } from './deployment.ts'
import { DeploymentPlan, DryRun } from './deployment-plan.ts'
import { EnvironmentActionStatus, EnvironmentStatus, EnvironmentStatuses } from './status.ts'

export const Environment = Type.Object({
  ...base,
  name: Type.String(),
  organization: Ref,
  project: Ref,
  last_updated_by: Nullable(Uuid),
  cloud_provider: Type.Object({ provider: Type.String(), cluster: Type.String() }),
  mode: Enum(environmentModes),
  cluster_id: Uuid,
  cluster_name: Type.String(),
  expires_at: Nullable(Timestamp),
})

export const EnvironmentCreate = Type.Object({
  name: Text(255, 1),
  cluster: Type.Optional(Nullable(Uuid)),
  cluster_id: Type.Optional(Nullable(Uuid)),
  mode: Type.Optional(Enum(environmentModes)),
})

export const EnvironmentEdit = Type.Object({
  name: Type.Optional(Text(255, 1)),
  mode: Type.Optional(Enum(environmentModes)),
})

const tag = 'Environment'
const path = '/environment/{environmentId}'

/** Deploys, stops or redeploys a whole environment: the same operation three times. */
const action = <const H extends string>(handler: H, name: string, type: AuditType, summary: string) =>
  operation({
    method: 'POST',
    path: `${path}/${name}`,
    handler,
    event: { type, target: 'ENVIRONMENT' },
    target: 'environment',
    access: 'deploy',
    tag,
    summary,
    reply: EnvironmentActionStatus,
    status: 202,
  })

export const environmentOperations = {
  listEnvironment: operation({
    method: 'GET',
    path: '/project/{projectId}/environment',
    handler: 'listEnvironments',
    target: 'project',
    access: 'read',
    tag,
    summary: 'Lists the environments of a project, oldest first.',
    reply: Results(Environment),
    status: 200,
  }),
  createEnvironment: operation({
    method: 'POST',
    path: '/project/{projectId}/environment',
    handler: 'createEnvironment',
    event: { type: 'CREATE', target: 'ENVIRONMENT' },
    target: 'project',
    access: 'write',
    someMode: true,
    tag,
    summary: 'Creates an environment with its four default stages. 409 if the name is taken.',
    body: EnvironmentCreate,
    reply: Environment,
    status: 201,
  }),
  getEnvironment: operation({
    method: 'GET',
    path,
    handler: 'getEnvironment',
    target: 'environment',
    access: 'read',
    tag,
    summary: 'Returns an environment.',
    reply: Environment,
    status: 200,
  }),
  editEnvironment: operation({
    method: 'PUT',
    path,
    handler: 'editEnvironment',
    event: { type: 'UPDATE', target: 'ENVIRONMENT' },
    target: 'environment',
    access: 'admin',
    tag,
    summary: 'Changes the name and mode of an environment.',
    body: EnvironmentEdit,
    reply: Environment,
    status: 200,
  }),
  deleteEnvironment: operation({
    method: 'DELETE',
    path,
    handler: 'deleteEnvironment',
    event: { type: 'TRIGGER_DELETE', target: 'ENVIRONMENT' },
    target: 'environment',
    access: 'admin',
    tag,
    summary: 'Deletes an environment: at once if nothing is running, otherwise after its services are deleted.',
    reply: NoBody,
    status: 204,
  }),
  getEnvironmentStatus: operation({
    method: 'GET',
    path: `${path}/status`,
    handler: 'getEnvironmentStatus',
    target: 'environment',
    access: 'read',
    tag,
    summary: 'Returns the status of an environment as a whole.',
    reply: EnvironmentStatus,
    status: 200,
  }),
  getEnvironmentStatuses: operation({
    method: 'GET',
    path: `${path}/statuses`,
    handler: 'getEnvironmentStatuses',
    target: 'environment',
    access: 'read',
    tag,
    summary: 'Returns the status of an environment and of each of its services.',
    reply: EnvironmentStatuses,
    status: 200,
  }),
  listEnvironmentLogs: operation({
    method: 'GET',
    path: `${path}/logs`,
    handler: 'listEnvironmentLogs',
    target: 'environment',
    access: 'read',
    tag,
    summary:
      'Lists the log lines of a deployment. `version` is an execution id or the id of a deployment in the ' +
      'history. Without it, the last deployment.',
    query: Type.Object({ version: Type.Optional(Text(100)) }),
    reply: Type.Array(EnvironmentLog),
    status: 200,
  }),
  listDeploymentRequestByEnvironmentId: operation({
    method: 'GET',
    path: `${path}/deploymentQueue`,
    handler: 'listEnvironmentDeploymentQueue',
    target: 'environment',
    access: 'read',
    tag,
    summary: 'Lists the running and queued deployment requests of an environment, in order.',
    reply: Results(QueuedDeployment),
    status: 200,
  }),
  deployEnvironment: operation({
    ...action(
      'deployEnvironment',
      'deploy',
      'TRIGGER_DEPLOY',
      'Deploys every service of an environment that is not skipped, stage by stage. `dry_run` returns the plan only.',
    ),
    query: DryRun,
    plan: DeploymentPlan,
  }),
  redeployEnvironment: action(
    'redeployEnvironment',
    'redeploy',
    'TRIGGER_REDEPLOY',
    'Redeploys every service of an environment that is not skipped: its deployed commit or image, with its ' +
      'current settings and variables. A service that was never deployed gets the version of its settings.',
  ),
  stopEnvironment: action(
    'stopEnvironment',
    'stop',
    'TRIGGER_STOP',
    'Stops every running service of an environment. Keeps their data.',
  ),
  cancelEnvironmentDeployment: operation({
    ...action(
      'cancelEnvironmentDeployment',
      'cancelDeployment',
      'TRIGGER_CANCEL',
      'Cancels the running deployment request of an environment, or the queued ones if none is running. 400 ' +
        'for `force_cancel: true`.',
    ),
    body: Type.Object({ force_cancel: Type.Optional(Type.Boolean()) }),
  }),
} as const
