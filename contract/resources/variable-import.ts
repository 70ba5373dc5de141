import { variableScopes } from '../enums.ts'
import { operation } from '../operation.ts'
import { Defaulted, Enum, List, Type } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'
import { key, value } from './variable.ts'

export const VariableImportRequest = Type.Object({
  overwrite: Defaulted(Type.Boolean(), false),
  vars: List(Type.Object({ name: key, value, scope: Enum(variableScopes), is_secret: Type.Boolean() }), 10_000),
})

/** `successful_imported_variables` has the written variables. Secrets have no value in it. */
export const VariableImport = Type.Object({
  total_variables_to_import: Type.Integer(),
  successful_imported_variables: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.Optional(Type.String()),
      scope: Enum(variableScopes),
      is_secret: Type.Boolean(),
    }),
  ),
})

/** Ten thousand variables of some hundred bytes each. */
export const maxImportBytes = 4 * 1024 * 1024

/** The import into one service. */
export const importTemplates = <const N extends KindName>(name: N) => ({
  'import{Short}EnvironmentVariable': operation({
    ...onService(name),
    tag: 'Variable',
    method: 'POST',
    path: `${pathOf(name)}/environmentVariable/import`,
    handler: 'importVariables',
    access: 'write',
    event: { type: 'UPDATE', target: 'SERVICE', sub: 'VARIABLE' },
    summary:
      'Imports many variables and secrets into a service at once, all or none. Skips variables of other ' +
      'kinds of services and names in use.',
    body: VariableImportRequest,
    maxBodyBytes: maxImportBytes,
    reply: VariableImport,
    status: 201,
  }),
})
