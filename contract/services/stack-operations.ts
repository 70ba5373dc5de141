import { operation } from '../operation.ts'
import { Results } from '../schema.ts'
import type { KindName } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'
import { DriftPolicy, DriftPolicyRequest, StackPlan, StackRun, StackState } from './stack-records.ts'
import { TerraformResource } from './terraform.ts'

const read = { method: 'GET', access: 'read', status: 200 } as const

/** The operations of Terraform stacks. */
export const stackTemplates = <const N extends KindName>(name: N) => ({
  'get{Kind}Resources': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/${name}Resources`,
    handler: 'listTerraformResources',
    summary: 'Lists the resources of the last apply of a Terraform stack. Empty before the first.',
    reply: Results(TerraformResource),
  }),
  'list{Kind}Runs': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/run`,
    handler: 'listStackRuns',
    summary: 'Lists the runs of a Terraform stack, newest first, at most 100.',
    reply: Results(StackRun),
  }),
  'get{Kind}Plan': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/run/{runId}/plan`,
    handler: 'getStackPlan',
    summary: 'Returns the plan of a run of a Terraform stack, resource by resource. 404 if the run made none.',
    reply: StackPlan,
  }),
  'list{Kind}States': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/state`,
    handler: 'listStackStates',
    summary: 'Lists the kept versions of the state of a Terraform stack, newest first. Never returns their content.',
    reply: Results(StackState),
  }),
  'restore{Kind}State': operation({
    extension: true,
    ...onService(name),
    method: 'POST',
    path: `${pathOf(name)}/state/{stateId}/restore`,
    handler: 'restoreStackState',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'SERVICE' },
    summary:
      'Makes an earlier version of the state the newest one, with a higher serial. 409 while a run holds the ' +
      'lock, or if it is the newest one.',
    reply: StackState,
    status: 200,
  }),
  'check{Kind}Drift': operation({
    extension: true,
    ...onService(name),
    method: 'POST',
    path: `${pathOf(name)}/driftCheck`,
    handler: 'checkStackDrift',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'SERVICE' },
    summary:
      'Checks a Terraform stack for changes from outside now. Returns the run, which makes a plan of the deployed ' +
      'version and applies nothing. 409 before the first deployment, while the stack is at work, and while a run ' +
      'holds the lock.',
    reply: StackRun,
    status: 202,
  }),
  'get{Kind}DriftPolicy': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/driftPolicy`,
    handler: 'getDriftPolicy',
    summary: 'Returns when a Terraform stack is checked for changes from outside, and the last check.',
    reply: DriftPolicy,
  }),
  'edit{Kind}DriftPolicy': operation({
    extension: true,
    ...onService(name),
    method: 'PUT',
    path: `${pathOf(name)}/driftPolicy`,
    handler: 'editDriftPolicy',
    access: 'write',
    event: { type: 'UPDATE', target: 'SERVICE' },
    summary:
      'Replaces the timetable of checks of a Terraform stack. A check makes a plan and applies nothing. A null ' +
      '`cron_at` ends them.',
    body: DriftPolicyRequest,
    reply: DriftPolicy,
    status: 200,
  }),
})
