import { serviceTypes, variableScopes } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, Nullable, Type, Uuid } from '../schema.ts'

/** `REFERENCE` means that the text of the other variable contains `{{KEY}}`. */
export const variableUseKinds = ['ALIAS', 'OVERRIDE', 'REFERENCE'] as const

/** The variable that uses another one, with its owner. */
const VariableUser = Type.Object({
  id: Uuid,
  key: Type.String(),
  scope: Enum(variableScopes),
  environment_id: Type.Optional(Uuid),
  environment_name: Type.Optional(Type.String()),
  service_id: Type.Optional(Uuid),
  service_name: Type.Optional(Type.String()),
  service_type: Type.Optional(Enum(serviceTypes)),
})

/**
 * The uses of variables by variables. Texts of secrets are not read: only their aliases and
 * overrides are listed.
 */
export const VariableUses = Type.Object({
  results: Type.Array(Type.Object({ variable_id: Uuid, kind: Enum(variableUseKinds), used_by: VariableUser })),
  /**
   * The services whose built-in variables other services get. Empty for a project.
   */
  service_links: Type.Array(
    Type.Object({
      service_id: Nullable({ ...Uuid, description: 'null: every service of the environment gets the variables' }),
      refers_to_id: Uuid,
      keys: Type.Array(Type.String(), { description: 'the variables that contain them' }),
    }),
  ),
  is_complete: Type.Boolean({
    description: 'false: more than 10 000 uses, or more than 2 MiB of texts with references',
  }),
})

const use = {
  method: 'GET',
  access: 'read',
  tag: 'Variable',
  extension: true,
  reply: VariableUses,
  status: 200,
} as const

export const variableUseOperations = {
  listProjectVariableUses: operation({
    ...use,
    path: '/project/{projectId}/variableUse',
    handler: 'listProjectVariableUses',
    target: 'project',
    summary:
      'Lists the variables that refer to a variable of a project, in every environment that the caller may read. ' +
      'Texts of secrets are not read.',
  }),
  listEnvironmentVariableUses: operation({
    ...use,
    path: '/environment/{environmentId}/variableUse',
    handler: 'listEnvironmentVariableUses',
    target: 'environment',
    summary:
      'Lists the variables of an environment and its services that refer to a variable, and the services that ' +
      'refer to each other by them. Texts of secrets are not read.',
  }),
} as const
