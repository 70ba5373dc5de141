import { named, operation } from '../operation.ts'
import { DeploymentHistory } from '../resources/deployment.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { DeploymentAccepted } from '../resources/status.ts'
import { Integer, Text, type TObject, Type } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { type Noun, onService, pathOf } from './on-service.ts'

/** The operations on the versions of a service. Each kind chooses its own. */

const act = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  ({ ...onService(name, kind), method: 'POST', access: 'deploy', reply: DeploymentAccepted, status: 202 }) as const

/** The optional parts of a deployment request. */
interface Sent {
  readonly body?: TObject
  readonly query?: TObject
}

/** Deploys, with the version that the kind can request. */
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
        'Deploys a service with its settings, or the version in the body. Does not restart a service that has not changed.',
      ...sent,
    }),
  })

/** Redeploys with the query of the kind, uninstalls, and lists the history. */
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
        'Redeploys the current commit or image of a service with its current settings and variables. Does not restart it if nothing has changed.',
      ...redeploy,
    }),
    'uninstall{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/uninstall`,
      handler: 'uninstallService',
      mayBeEmpty: true,
      event: { type: 'TRIGGER_UNINSTALL', target: 'SERVICE' },
      summary: 'Uninstalls a service with its volumes. Keeps its settings.',
      ...uninstall,
    }),
    'list{Kind}DeploymentHistoryV2': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/deploymentHistoryV2`,
      handler: 'listServiceHistory',
      access: 'read',
      summary: 'Lists the last deployments of a service, newest first, at most 20.',
      query: Type.Object({ pageSize: Type.Optional(Integer(1)) }),
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
export const rollbackOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'rollback{Kind}': operation({
      extension: true,
      ...act(name, kind),
      path: `${pathOf(name)}/rollback`,
      handler: 'rollbackService',
      event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
      summary:
        'Rolls a service back to the version of a previous execution without a build: its image, settings, variables and secrets. `dry_run` returns the plan only.',
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
      summary: 'Stops a service. Keeps its volumes.',
    }),
  })

export const restartOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'reboot{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/restart-service`,
      handler: 'restartService',
      event: { type: 'TRIGGER_RESTART', target: 'SERVICE' },
      summary: 'Restarts the current release of a service without downtime.',
    }),
  })
