import { variableScopes } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, NoBody, Nullable, Results, Type, Uuid } from '../schema.ts'
import { common, details, key, origin, value } from './variable.ts'
import { maxImportBytes, VariableImport, VariableImportRequest } from './variable-import.ts'

const anyOrigin = Type.Optional(Type.Object({ ...origin, value: Nullable(Type.String()) }))

/** A variable or a secret. The `value` of a secret is null. */
export const AnyVariable = Type.Object({
  ...common,
  value: Nullable(Type.String()),
  mount_path: Nullable(Type.String()),
  is_secret: Type.Boolean(),
  overridden_variable: anyOrigin,
  aliased_variable: anyOrigin,
})

const { description, enable_interpolation_in_file } = details
const remarks = { description, enable_interpolation_in_file }
/** Always null: no secret manager is connected. */
const secret_manager_access_id = Type.Optional(Nullable(Uuid))
const scope = Enum(variableScopes)

export const AnyVariableCreate = Type.Object({
  key,
  value,
  is_secret: Type.Boolean(),
  variable_scope: scope,
  variable_parent_id: Uuid,
  secret_manager_access_id,
  ...details,
})
/** Absent fields are unchanged, and so is a secret whose `value` is null. */
export const AnyVariableEdit = Type.Object({
  key,
  value: Type.Optional(Nullable(value)),
  secret_manager_access_id,
  ...remarks,
})
export const AnyAliasCreate = Type.Object({ key, alias_scope: scope, alias_parent_id: Uuid, ...remarks })
export const AnyOverrideCreate = Type.Object({ value, override_scope: scope, override_parent_id: Uuid, ...remarks })

const tag = 'Variable'
const onVariable = { target: 'variable', tag } as const
/** The query or the body names the owner. */
const elsewhere = { target: 'caller', elsewhere: true, tag } as const

/** Operations on variables and secrets of every scope and kind of service, by their own ids. */
export const anyVariableOperations = {
  listVariables: operation({
    ...elsewhere,
    method: 'GET',
    path: '/variable',
    handler: 'listAnyVariables',
    access: 'read',
    summary: 'Lists every variable and secret that is visible in a project, an environment or a service.',
    query: Type.Object({ parent_id: Uuid, scope, is_secret: Type.Optional(Type.Boolean()) }),
    reply: Results(AnyVariable),
    status: 200,
  }),
  createVariable: operation({
    ...elsewhere,
    method: 'POST',
    path: '/variable',
    handler: 'createAnyVariable',
    access: 'write',
    event: { type: 'CREATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Creates a variable or a secret in a project, an environment or a service. 409 if the key exists there.',
    body: AnyVariableCreate,
    reply: AnyVariable,
    status: 201,
  }),
  editVariable: operation({
    ...onVariable,
    method: 'PUT',
    path: '/variable/{variableId}',
    handler: 'editAnyVariable',
    access: 'write',
    event: { type: 'UPDATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Changes a variable or a secret. It takes effect at the next deployment.',
    body: AnyVariableEdit,
    reply: AnyVariable,
    status: 200,
  }),
  deleteVariable: operation({
    ...onVariable,
    method: 'DELETE',
    path: '/variable/{variableId}',
    handler: 'deleteAnyVariable',
    access: 'write',
    event: { type: 'DELETE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Deletes a variable or a secret with its aliases and overrides.',
    reply: NoBody,
    status: 204,
  }),
  createVariableAlias: operation({
    ...onVariable,
    method: 'POST',
    path: '/variable/{variableId}/alias',
    handler: 'createAnyAlias',
    access: 'write',
    elsewhere: true,
    event: { type: 'CREATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Creates an alias of a variable or a secret at the same or a narrower scope. Requires WRITE there.',
    body: AnyAliasCreate,
    reply: AnyVariable,
    status: 201,
  }),
  createVariableOverride: operation({
    ...onVariable,
    method: 'POST',
    path: '/variable/{variableId}/override',
    handler: 'createAnyOverride',
    access: 'write',
    elsewhere: true,
    event: { type: 'CREATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Creates an override of a variable or a secret at a narrower scope. Requires WRITE there.',
    body: AnyOverrideCreate,
    reply: AnyVariable,
    status: 201,
  }),
  importEnvironmentVariables: operation({
    ...elsewhere,
    method: 'POST',
    path: '/variable/import',
    handler: 'importVariablesOfService',
    access: 'write',
    event: { type: 'UPDATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary: 'Imports many variables and secrets at once, all or none. Protected ones are skipped.',
    query: Type.Object({
      service_id: Uuid,
      service_type: Enum(['APPLICATION', 'CONTAINER', 'JOB', 'HELM', 'TERRAFORM']),
    }),
    body: VariableImportRequest,
    maxBodyBytes: maxImportBytes,
    reply: VariableImport,
    status: 201,
  }),
}
