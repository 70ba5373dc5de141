import { named, operation } from '../operation.ts'
import { DeploymentHistory } from '../resources/deployment.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { Link, Log } from '../resources/log.ts'
import { DeploymentAccepted, Status } from '../resources/status.ts'
import { Integer, NoBody, Results, Text, type TObject, type TSchema, Type, Uuid } from '../schema.ts'
import { withData } from './fields.ts'
import type { KindName } from './kinds.ts'

/** The operations of services, each written once: the kind's name, schemas and path are parameters. A kind has those that it calls for. */

interface Noun<K extends string> {
  readonly noun: K
}
const onService = <const N extends KindName>(name: N, { noun }: Noun<string>) =>
  ({ target: 'service', kind: name, tag: noun }) as const
const pathOf = <const N extends KindName>(name: N) => `/${name}/{${name}Id}` as const

/** Where a copy goes. */
export const CloneServiceRequest = Type.Object({
  name: Text(63, 1),
  environment_id: Uuid,
  with_data: withData,
})

/** list, without a query or with the one that is given. */
export const listOperation = <
  const N extends KindName,
  const L extends string,
  const R extends TSchema,
  const Q extends { readonly query?: TObject },
>(
  name: N,
  kind: { readonly noun: string; readonly listed: L; readonly record: R },
  query: Q,
) =>
  named(kind.listed, {
    'list{Kind}': operation({
      method: 'GET',
      path: `/environment/{environmentId}/${name}`,
      handler: 'listServices',
      target: 'environment',
      access: 'read',
      tag: kind.noun,
      kind: name,
      summary: 'Those of an environment, oldest first.',
      ...query,
      reply: Results(kind.record),
      status: 200,
    }),
  })
/** Of kinds made from git: only those whose branch is ahead of what runs. */
export const toUpdate = { query: Type.Object({ toUpdate: Type.Optional(Type.Boolean({ default: false })) }) }

const skipReconcile = Type.Optional(Type.Boolean({ default: false }))
export const deleteQuery = Type.Object({ skipReconcile })
const forceTerraformAction = Type.Optional(Type.Unsafe<'SKIP_DESTROY'>({ type: 'string', enum: ['SKIP_DESTROY'] }))
export const deleteTerraformQuery = Type.Object({
  skipReconcile,
  resources_only: Type.Optional(Type.Boolean({ default: false })),
  force_terraform_action: forceTerraformAction,
})
export const uninstallTerraform = { query: Type.Object({ force_terraform_action: forceTerraformAction }) }

/** create, get, edit, delete, clone. */
export function recordOperations<
  const N extends KindName,
  const K extends string,
  const C extends TObject,
  const E extends TObject,
  const R extends TSchema,
  const Q extends TObject,
>(name: N, kind: { readonly noun: K; readonly create: C; readonly edit: E; readonly record: R }, query: Q) {
  const path = pathOf(name)
  const common = onService(name, kind)
  return named(kind.noun, {
    'create{Kind}': operation({
      method: 'POST',
      path: `/environment/{environmentId}/${name}`,
      handler: 'createService',
      target: 'environment',
      access: 'write',
      tag: kind.noun,
      kind: name,
      event: { type: 'CREATE', target: 'SERVICE' },
      summary: 'Makes one; nothing runs before it is deployed. 409 when the name is taken.',
      body: kind.create,
      reply: kind.record,
      status: 201,
    }),
    'get{Kind}': operation({
      ...common,
      method: 'GET',
      path,
      handler: 'getService',
      access: 'read',
      summary: 'One, with its settings.',
      reply: kind.record,
      status: 200,
    }),
    'edit{Kind}': operation({
      ...common,
      method: 'PUT',
      path,
      handler: 'editService',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE' },
      summary:
        'Changes settings; what the body leaves out stays. Takes effect at the next deployment. `dry_run` tells what that would do.',
      query: DryRun,
      plan: DeploymentPlan,
      body: kind.edit,
      reply: kind.record,
      status: 200,
    }),
    'delete{Kind}': operation({
      ...common,
      method: 'DELETE',
      path,
      handler: 'deleteService',
      access: 'write',
      event: { type: 'TRIGGER_DELETE', target: 'SERVICE' },
      summary: 'Deletes it with its volumes: at once when never deployed, else after what runs is gone.',
      query,
      reply: NoBody,
      status: 204,
    }),
    'clone{Kind}': operation({
      ...common,
      method: 'POST',
      path: `${path}/clone`,
      handler: 'cloneService',
      access: 'write',
      event: { type: 'CLONE', target: 'SERVICE' },
      summary:
        'Makes a copy of its settings, variables and secrets in an environment; nothing of it runs. 409 when the name is taken.',
      body: CloneServiceRequest,
      reply: kind.record,
      status: 202,
    }),
  })
}

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
        'Deploys the version that runs now again, with the settings and variables of today; where those have not changed, nothing is started anew.',
      ...redeploy,
    }),
    'uninstall{Kind}': operation({
      ...act(name, kind),
      path: `${pathOf(name)}/uninstall`,
      handler: 'uninstallService',
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

/** Its own status, and that of all of its kind in an environment. */
export const statusOperations = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'get{Kind}Status': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/status`,
      handler: 'getServiceStatus',
      access: 'read',
      summary: 'What it is doing, and what its last deployment did.',
      reply: Status,
      status: 200,
    }),
    'getEnvironment{Kind}Status': operation({
      method: 'GET',
      path: `/environment/{environmentId}/${name}/status`,
      handler: 'listServiceStatuses',
      target: 'environment',
      kind: name,
      tag: kind.noun,
      access: 'read',
      summary: 'The status of each one of an environment, also of those that were never deployed.',
      reply: Results(Status),
      status: 200,
    }),
  })

export const logOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'list{Kind}Log': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/log`,
      handler: 'listServiceLog',
      access: 'read',
      summary: 'Its last lines, oldest first; `tail` says how many (1,000), at most 10,000.',
      query: Type.Object({ tail: Type.Optional(Integer(1, 1_000_000_000)) }),
      reply: Results(Log),
      status: 200,
    }),
  })

export const linkOperation = <const N extends KindName, const K extends string>(name: N, kind: Noun<K>) =>
  named(kind.noun, {
    'list{Kind}Links': operation({
      ...onService(name, kind),
      method: 'GET',
      path: `${pathOf(name)}/link`,
      handler: 'listServiceLinks',
      access: 'read',
      summary: 'The addresses where it answers.',
      reply: Results(Link),
      status: 200,
    }),
  })
