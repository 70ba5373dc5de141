import { named, operation } from '../operation.ts'
import { DeploymentHistory } from '../resources/deployment.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { DeploymentAccepted } from '../resources/status.ts'
import { Integer, Text, type TObject, Type } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { type Noun, onService, pathOf } from './on-service.ts'

/** What is done with the versions of a service, each operation once. A kind has those that it calls for. */

const act = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  ({ ...onService(name, kind), method: 'POST', access: 'deploy', reply: DeploymentAccepted, status: 202 }) as const

/** What a request for a deployment may hold beside the service. */
interface Sent {
  readonly body?: TObject
  readonly query?: TObject
}

/** deploy, with the version that a kind can ask for. */
export const deployOperation = <const N extends KindName, const K extends string, const S extends Sent>(
  name: N,
  kind: Noun<K>,
  sent: S,
) =>
  named(kind.noun, {
    'deploy{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/deploy`,
      handler: 'deployService',
      event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
      summary:
        'Deploys what its settings name, or the version that the body asks for. What has not changed is not started anew.',
      ...sent,
    }),
  })

/** redeploy, with what the query of a kind can ask for; uninstall; history. */
export const deploymentOperations = <
  const N extends KindName,
  const K extends string,
  const R extends Sent,
  const U extends Sent,
>(
  name: N,
  kind: Noun<K>,
  redeploy: R,
  uninstall: U,
) =>
  named(kind.noun, {
    'redeploy{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/redeploy`,
      handler: 'redeployService',
      event: { type: 'TRIGGER_REDEPLOY', target: 'SERVICE' },
      summary:
        'Deploys the version that is deployed again, its commit or its image, with the settings and variables of today; where those have not changed, nothing is started anew.',
      ...redeploy,
    }),
    'uninstall{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/uninstall`,
      handler: 'uninstallService',
      mayBeEmpty: true,
      event: { type: 'TRIGGER_UNINSTALL', target: 'SERVICE' },
      summary: 'Removes what runs, with its volumes, and keeps the settings.',
      ...uninstall,
    }),
    'list{Kind}DeploymentHistoryV2': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/deploymentHistoryV2`,
      handler: 'listServiceHistory',
      access: 'read',
      summary: 'Its last deployments, newest first; at most 20.',
      query: Type.Object({ pageSize: Type.Optional(Integer(1)) }),
      reply: DeploymentHistory,
      status: 200,
    }),
  })

/** What a rollback answers beside the deployment. */
const RollbackAccepted = Type.Object({
  ...DeploymentAccepted.properties,
  note: Type.String({ description: 'what the rollback brings back, and what stays as it is' }),
})

/** Of kinds that run: back to what a former execution started. */
export const rollbackOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'rollback{Kind}': operation({
      extension: true,
      ...act(name, kind),
      path: `${pathOf(name)}/rollback`,
      handler: 'rollbackService',
      event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
      summary:
        'Starts the version of a former execution again, without a build: its image, settings, variables and secrets. `dry_run` tells what that would do.',
      query: DryRun,
      plan: DeploymentPlan,
      body: Type.Object({ execution_id: Text(255, 1) }),
      reply: RollbackAccepted,
    }),
  })

export const stopOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'stop{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/stop`,
      handler: 'stopService',
      event: { type: 'TRIGGER_STOP', target: 'SERVICE' },
      summary: 'Stops it; its volumes stay.',
    }),
  })

export const restartOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'reboot{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/restart-service`,
      handler: 'restartService',
      event: { type: 'TRIGGER_RESTART', target: 'SERVICE' },
      summary: 'Starts the release that runs now anew, without a gap.',
    }),
  })
