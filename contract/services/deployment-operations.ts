import { operation, operationWith } from '../operation.ts'
import { DeploymentHistory, HistoryPage } from '../resources/deployment.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { DeploymentAccepted } from '../resources/status.ts'
import { Enum, Nullable, Text, Type } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'
import { forceTerraformAction, keepVolumes } from './record-operations.ts'
import { deployedStackActions, planRunId } from './terraform.ts'

/** The operations on the versions of a service. Each kind chooses its own. */

/** The requested version of a deployment. Absent or empty means the version of the settings. */
const commit = Type.Optional(Nullable(Text(64)))
const tag = Type.Optional(Nullable(Text(128)))
const applyImmediately = { query: Type.Object({ applyImmediately: Type.Optional(Type.Boolean()) }) }
const forceJob = { query: Type.Object({ forceEvent: Type.Optional(Enum(['START', 'STOP', 'DELETE', 'CRON'])) }) }
const forceHelm = { query: Type.Object({ forceEvent: Type.Optional(Enum(['DIFF'])) }) }

/** The optional parts of a deployment request, by kind. */
const deployed = {
  application: { body: Type.Object({ git_commit_id: commit }) },
  container: { body: Type.Object({ image_tag: tag }) },
  database: applyImmediately,
  job: { ...forceJob, body: Type.Object({ git_commit_id: commit, image_tag: tag }) },
  helm: {
    ...forceHelm,
    body: Type.Object({
      chart_version: Type.Optional(Nullable(Text(255))),
      git_commit_id: commit,
      values_override_git_commit_id: commit,
    }),
  },
  terraform: {
    body: Type.Object({
      git_commit_id: commit,
      action: Type.Optional(Nullable(Enum(deployedStackActions))),
      plan_run_id: planRunId,
    }),
    event: {
      type: 'TRIGGER_DEPLOY',
      target: 'SERVICE',
      chosenBy: {
        field: 'action',
        types: {
          PLAN: 'TRIGGER_DEPLOY_DRY_RUN',
          FORCE_UNLOCK: 'TRIGGER_TERRAFORM_FORCE_UNLOCK',
          MIGRATE_STATE: 'TRIGGER_TERRAFORM_MIGRATE_STATE',
        },
      },
    },
  },
} as const
const redeployed = {
  application: {},
  container: {},
  database: applyImmediately,
  job: forceJob,
  helm: forceHelm,
  terraform: {},
} as const
const uninstalled = {
  application: {},
  container: {},
  database: {},
  job: {},
  helm: { query: Type.Object({ keep_volumes: keepVolumes }) },
  terraform: { query: Type.Object({ force_terraform_action: forceTerraformAction }) },
} as const

const act = <const N extends KindName>(name: N) =>
  ({ ...onService(name), method: 'POST', access: 'deploy', reply: DeploymentAccepted, status: 202 }) as const

/** Deploys, with the version that the kind can request. */
export const deployTemplates = <const N extends KindName>(name: N) => ({
  'deploy{Kind}': operationWith(deployed[name], {
    ...act(name),
    path: `${pathOf(name)}/deploy`,
    handler: 'deployService',
    event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
    summary:
      'Deploys a service with its settings, or the version in the body. Does not restart a service that has ' +
      'not changed.',
  }),
})

/** Redeploys with the query of the kind, uninstalls, and lists the history. */
export const deploymentTemplates = <const N extends KindName>(name: N) => ({
  'redeploy{Kind}': operationWith(redeployed[name], {
    ...act(name),
    path: `${pathOf(name)}/redeploy`,
    handler: 'redeployService',
    event: { type: 'TRIGGER_REDEPLOY', target: 'SERVICE' },
    summary:
      'Redeploys the current commit or image of a service with its current settings and variables. Does not ' +
      'restart it if nothing has changed.',
  }),
  'uninstall{Kind}': operationWith(uninstalled[name], {
    ...act(name),
    path: `${pathOf(name)}/uninstall`,
    handler: 'uninstallService',
    mayBeEmpty: true,
    event: { type: 'TRIGGER_UNINSTALL', target: 'SERVICE' },
    summary:
      'Uninstalls a service with its volumes. Keeps its settings. `keep_volumes` leaves the volumes of a Helm chart ' +
      'on its cluster, where its next deployment finds them.',
  }),
  'list{Kind}DeploymentHistoryV2': operation({
    ...onService(name),
    method: 'GET',
    path: `${pathOf(name)}/deploymentHistoryV2`,
    handler: 'listServiceHistory',
    access: 'read',
    summary: 'Lists the deployments of a service, newest first, at most 20 at a time.',
    query: HistoryPage,
    reply: DeploymentHistory,
    status: 200,
  }),
})

/** The response to a rollback: the deployment and a note. */
const RollbackAccepted = Type.Object({
  ...DeploymentAccepted.properties,
  note: Type.String({ description: 'what the rollback restores, and what it leaves unchanged' }),
})

/** Rolls back to a previous execution. For kinds that run. */
export const rollbackTemplates = <const N extends KindName>(name: N) => ({
  'rollback{Kind}': operation({
    extension: true,
    ...act(name),
    path: `${pathOf(name)}/rollback`,
    handler: 'rollbackService',
    event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
    summary:
      'Rolls a service back to the version of a previous execution without a build: its image, settings, ' +
      'variables and secrets. `dry_run` returns the plan only.',
    query: DryRun,
    plan: DeploymentPlan,
    body: Type.Object({ execution_id: Text(255, 1) }),
    reply: RollbackAccepted,
  }),
})

export const stopTemplates = <const N extends KindName>(name: N) => ({
  'stop{Kind}': operation({
    ...act(name),
    path: `${pathOf(name)}/stop`,
    handler: 'stopService',
    event: { type: 'TRIGGER_STOP', target: 'SERVICE' },
    summary: 'Stops a service. Keeps its volumes.',
  }),
})

export const restartTemplates = <const N extends KindName>(name: N) => ({
  'reboot{Kind}': operation({
    ...act(name),
    path: `${pathOf(name)}/restart-service`,
    handler: 'restartService',
    event: { type: 'TRIGGER_RESTART', target: 'SERVICE' },
    summary: 'Restarts the current release of a service without downtime.',
  }),
})
