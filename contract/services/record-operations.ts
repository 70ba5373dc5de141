import type { AuditType } from '../audit.ts'
import { named, operation } from '../operation.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { Defaulted, NoBody, Results, Text, type TObject, type TSchema, Type, Uuid } from '../schema.ts'
import { withData } from './fields.ts'
import type { KindName } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'

/** The records of services: each operation once; the kind's name, schemas and path are parameters. */

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
/** Of kinds made from git: only those whose branch is known to be ahead of what is deployed. */
export const toUpdate = { query: Type.Object({ toUpdate: Type.Optional(Defaulted(Type.Boolean(), false)) }) }

const skipReconcile = Type.Optional(Defaulted(Type.Boolean(), false))
export const deleteQuery = Type.Object({ skipReconcile })
const forceTerraformAction = Type.Optional(Type.Unsafe<'SKIP_DESTROY'>({ type: 'string', enum: ['SKIP_DESTROY'] }))
export const deleteTerraformQuery = Type.Object({
  skipReconcile,
  resources_only: Type.Optional(Defaulted(Type.Boolean(), false)),
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
  const { noun, record } = kind
  const made = { path: `/environment/{environmentId}/${name}`, target: 'environment', tag: noun, kind: name } as const
  const one = { ...onService(name, kind), path } as const
  const write = <const E extends AuditType>(type: E) =>
    ({ access: 'write', event: { type, target: 'SERVICE' } }) as const
  return named(noun, {
    'create{Kind}': operation({
      ...made,
      ...write('CREATE'),
      method: 'POST',
      handler: 'createService',
      summary: 'Makes one; nothing runs before it is deployed. 409 when the name is taken.',
      body: kind.create,
      reply: record,
      status: 201,
    }),
    'get{Kind}': operation({
      ...one,
      access: 'read',
      method: 'GET',
      handler: 'getService',
      summary: 'One, with its settings.',
      reply: record,
      status: 200,
    }),
    'edit{Kind}': operation({
      ...one,
      ...write('UPDATE'),
      method: 'PUT',
      handler: 'editService',
      summary:
        'Changes settings; what the body leaves out stays. Takes effect at the next deployment. `dry_run` tells what that would do.',
      query: DryRun,
      plan: DeploymentPlan,
      body: kind.edit,
      reply: record,
      status: 200,
    }),
    'delete{Kind}': operation({
      ...one,
      ...write('TRIGGER_DELETE'),
      method: 'DELETE',
      handler: 'deleteService',
      summary: 'Deletes it with its volumes: at once when never deployed, else after what runs is gone.',
      query,
      reply: NoBody,
      status: 204,
    }),
    'clone{Kind}': operation({
      ...one,
      ...write('CLONE'),
      method: 'POST',
      path: `${path}/clone`,
      handler: 'cloneService',
      summary:
        'Makes a copy of its settings, variables and secrets in an environment; nothing of it runs. 409 when the name is taken.',
      body: CloneServiceRequest,
      reply: record,
      status: 202,
    }),
  })
}
