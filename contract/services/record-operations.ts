import type { AuditType } from '../audit.ts'
import { named, operation } from '../operation.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { Defaulted, NoBody, Results, Text, type TObject, type TSchema, Type, Uuid } from '../schema.ts'
import { withData } from './fields.ts'
import type { KindName } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'

/** The operations on records of services. The kind's name, schemas and path are parameters. */

/** The destination of a copy. */
export const CloneServiceRequest = Type.Object({
  name: Text(63, 1),
  environment_id: Uuid,
  with_data: withData,
})

/** Lists services, with the query of the kind. */
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
      summary: 'Lists the services of this kind in an environment, oldest first.',
      ...query,
      reply: Results(kind.record),
      status: 200,
    }),
  })
/** For kinds built from git: lists only services whose branch is ahead of the deployed commit. */
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

/** Creates, gets, edits, deletes and clones a service. */
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
      summary: 'Creates a service. It runs once it is deployed. 409 if the name is taken.',
      body: kind.create,
      reply: record,
      status: 201,
    }),
    'get{Kind}': operation({
      ...one,
      access: 'read',
      method: 'GET',
      handler: 'getService',
      summary: 'Returns a service with its settings.',
      reply: record,
      status: 200,
    }),
    'edit{Kind}': operation({
      ...one,
      ...write('UPDATE'),
      method: 'PUT',
      handler: 'editService',
      summary:
        'Changes the settings of a service. Omitted fields are unchanged. Takes effect at the next deployment. `dry_run` returns the plan only.',
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
      summary: 'Deletes a service with its volumes: at once if never deployed, otherwise after it is uninstalled.',
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
        'Copies the settings, variables and secrets of a service into an environment. The copy is not running. 409 if the name is taken.',
      body: CloneServiceRequest,
      reply: record,
      status: 202,
    }),
  })
}
