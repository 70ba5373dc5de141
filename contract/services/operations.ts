import { named, operation } from '../operation.ts'
import { DeploymentHistory } from '../resources/deployment.ts'
import { Link, Log } from '../resources/log.ts'
import { DeploymentAccepted, Status } from '../resources/status.ts'
import { variableOperations } from '../resources/variable.ts'
import { Integer, NoBody, Results, Text, Type } from '../schema.ts'
import type { Kind, KindName } from './kinds.ts'

/** Every operation of a service, once: the kind's name, schemas and path are parameters. */
export function serviceOperations<const N extends KindName, const K extends Kind>(name: N, kind: K) {
  const tag = kind.noun
  const path = `/${name}/{${name}Id}` as const
  const onService = { target: 'service', kind: name, tag } as const
  const read = { ...onService, method: 'GET', access: 'read', status: 200 } as const
  const act = { ...onService, method: 'POST', access: 'deploy', reply: DeploymentAccepted, status: 202 } as const
  return {
    ...named(kind.noun, {
      'list{Kind}': operation({
        method: 'GET',
        path: `/environment/{environmentId}/${name}`,
        handler: 'listServices',
        target: 'environment',
        access: 'read',
        tag,
        kind: name,
        summary: 'Those of an environment, oldest first.',
        query: Type.Object({ toUpdate: Type.Optional(Type.Boolean({ default: false })) }),
        reply: Results(kind.record),
        status: 200,
      }),
      'create{Kind}': operation({
        method: 'POST',
        path: `/environment/{environmentId}/${name}`,
        handler: 'createService',
        target: 'environment',
        access: 'write',
        tag,
        kind: name,
        event: { type: 'CREATE', target: 'SERVICE' },
        summary: 'Makes one; nothing runs before it is deployed. 409 when the name is taken.',
        body: kind.create,
        reply: kind.record,
        status: 201,
      }),
      'get{Kind}': operation({
        ...read,
        path,
        handler: 'getService',
        summary: 'One, with its settings.',
        reply: kind.record,
      }),
      'edit{Kind}': operation({
        ...onService,
        method: 'PUT',
        path,
        handler: 'editService',
        access: 'write',
        event: { type: 'UPDATE', target: 'SERVICE' },
        summary: 'Changes settings; what the body leaves out stays. Takes effect at the next deployment.',
        body: kind.edit,
        reply: kind.record,
        status: 200,
      }),
      'delete{Kind}': operation({
        ...onService,
        method: 'DELETE',
        path,
        handler: 'deleteService',
        access: 'write',
        event: { type: 'TRIGGER_DELETE', target: 'SERVICE' },
        summary: 'Deletes it with its volumes: at once when never deployed, else after what runs is gone.',
        reply: NoBody,
        status: 204,
      }),
      'get{Kind}Status': operation({
        ...read,
        path: `${path}/status`,
        handler: 'getServiceStatus',
        summary: 'What it is doing, and what its last deployment did.',
        reply: Status,
      }),
      'deploy{Kind}': operation({
        ...act,
        path: `${path}/deploy`,
        handler: 'deployService',
        event: { type: 'TRIGGER_DEPLOY', target: 'SERVICE' },
        summary: 'Deploys the head of its branch, or `git_commit_id`.',
        body: Type.Object({ git_commit_id: Type.Optional(Type.Union([Text(64), Type.Null()])) }),
      }),
      'redeploy{Kind}': operation({
        ...act,
        path: `${path}/redeploy`,
        handler: 'redeployService',
        event: { type: 'TRIGGER_REDEPLOY', target: 'SERVICE' },
        summary: 'Deploys the commit that runs now again, with the settings and variables of today.',
      }),
      'stop{Kind}': operation({
        ...act,
        path: `${path}/stop`,
        handler: 'stopService',
        event: { type: 'TRIGGER_STOP', target: 'SERVICE' },
        summary: 'Stops it; its volumes stay.',
      }),
      'reboot{Kind}': operation({
        ...act,
        path: `${path}/restart-service`,
        handler: 'restartService',
        event: { type: 'TRIGGER_RESTART', target: 'SERVICE' },
        summary: 'Starts the release that runs now anew, without a gap.',
      }),
      'uninstall{Kind}': operation({
        ...act,
        path: `${path}/uninstall`,
        handler: 'uninstallService',
        event: { type: 'TRIGGER_UNINSTALL', target: 'SERVICE' },
        summary: 'Removes what runs, with its volumes, and keeps the settings.',
      }),
      'list{Kind}DeploymentHistoryV2': operation({
        ...read,
        path: `${path}/deploymentHistoryV2`,
        handler: 'listServiceHistory',
        summary: 'Its last deployments, newest first; at most 20.',
        query: Type.Object({ pageSize: Type.Optional(Integer(1)) }),
        reply: DeploymentHistory,
      }),
      'list{Kind}Log': operation({
        ...read,
        path: `${path}/log`,
        handler: 'listServiceLog',
        summary: 'Its last lines, oldest first; `tail` says how many (1,000), at most 10,000.',
        query: Type.Object({ tail: Type.Optional(Integer(1, 1_000_000_000)) }),
        reply: Results(Log),
      }),
      'list{Kind}Links': operation({
        ...read,
        path: `${path}/link`,
        handler: 'listServiceLinks',
        summary: 'The addresses where it answers.',
        reply: Results(Link),
      }),
    }),
    ...variableOperations(kind.noun, path, 'service'),
  }
}
