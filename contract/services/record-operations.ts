import type { AuditType } from '../audit.ts'
import { operation, operationWith } from '../operation.ts'
import { DeploymentPlan, DryRun } from '../resources/deployment-plan.ts'
import { Defaulted, extension, NoBody, Results, Text, Type, Uuid } from '../schema.ts'
import { withData } from './fields.ts'
import { fieldOf, type KindName, serviceKinds } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'

/** The operations on records of services. The kind's name, schemas and path are parameters. */

/** The destination of a copy. */
export const CloneServiceRequest = Type.Object({
  name: Text(63, 1),
  environment_id: Uuid,
  with_data: withData,
})

/** For kinds built from git: lists only services whose branch is ahead of the deployed commit. */
const toUpdate = { query: Type.Object({ toUpdate: Type.Optional(Defaulted(Type.Boolean(), false)) }) }

const listed = {
  application: toUpdate,
  container: {},
  database: {},
  job: toUpdate,
  helm: toUpdate,
  terraform: {},
} as const

const skipReconcile = Type.Optional(Defaulted(Type.Boolean(), false))
const deleteQuery = { query: Type.Object({ skipReconcile }) }
/** Leaves the volumes of a chart on its cluster. */
export const keepVolumes = Type.Optional(extension(Defaulted(Type.Boolean(), false)))
export const forceTerraformAction = Type.Optional(
  Type.Unsafe<'SKIP_DESTROY'>({ type: 'string', enum: ['SKIP_DESTROY'] }),
)
const deleted = {
  application: deleteQuery,
  container: deleteQuery,
  database: deleteQuery,
  job: deleteQuery,
  helm: { query: Type.Object({ skipReconcile, keep_volumes: keepVolumes }) },
  terraform: {
    query: Type.Object({
      skipReconcile,
      resources_only: Type.Optional(Defaulted(Type.Boolean(), false)),
      force_terraform_action: forceTerraformAction,
    }),
    event: {
      type: 'TRIGGER_DELETE',
      target: 'SERVICE',
      chosenBy: { field: 'resources_only', types: { true: 'TRIGGER_UNINSTALL' } },
    },
  },
} as const

const made = <const N extends KindName>(name: N) =>
  ({
    path: `/environment/{environmentId}/${name}`,
    target: 'environment',
    tag: serviceKinds[name].noun,
    kind: name,
  }) as const

/** Lists services, with the query of the kind. */
export const listTemplates = <const N extends KindName>(name: N) => ({
  'list{Listed}': operationWith(listed[name], {
    ...made(name),
    method: 'GET',
    handler: 'listServices',
    access: 'read',
    summary: 'Lists the services of this kind in an environment, oldest first.',
    reply: Results(fieldOf(name, 'record')),
    status: 200,
  }),
})

/** Creates, gets, edits, deletes and clones a service. */
export function recordTemplates<const N extends KindName>(name: N) {
  const record = fieldOf(name, 'record')
  const one = { ...onService(name), path: pathOf(name) } as const
  const write = <const E extends AuditType>(type: E) =>
    ({ access: 'write', event: { type, target: 'SERVICE' } }) as const
  return {
    'create{Kind}': operation({
      ...made(name),
      ...write('CREATE'),
      method: 'POST',
      handler: 'createService',
      summary: 'Creates a service. It runs once it is deployed. 409 if the name is taken.',
      body: fieldOf(name, 'create'),
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
        'Changes the settings of a service. Omitted fields are unchanged. Takes effect at the next ' +
        'deployment. `dry_run` returns the plan only.',
      query: DryRun,
      plan: DeploymentPlan,
      body: fieldOf(name, 'edit'),
      reply: record,
      status: 200,
    }),
    'delete{Kind}': operationWith(deleted[name], {
      ...one,
      ...write('TRIGGER_DELETE'),
      method: 'DELETE',
      handler: 'deleteService',
      summary:
        'Deletes a service with its volumes: at once if never deployed, otherwise after it is uninstalled. ' +
        '`resources_only` destroys the resources of a Terraform stack and keeps its record. `keep_volumes` leaves ' +
        'the volumes of a Helm chart on its cluster.',
      reply: NoBody,
      status: 204,
    }),
    'clone{Kind}': operation({
      ...one,
      ...write('CLONE'),
      method: 'POST',
      path: `${pathOf(name)}/clone`,
      handler: 'cloneService',
      summary:
        'Copies the settings, variables and secrets of a service into an environment. The copy is not ' +
        'running. 409 if the name is taken.',
      body: CloneServiceRequest,
      reply: record,
      status: 202,
    }),
  }
}
