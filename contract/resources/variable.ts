import { serviceTypes, variableScopes, variableTypes } from '../enums.ts'
import { named, operation, type Target } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Type, Uuid } from '../schema.ts'

/** What variables and secrets have in common. */
export const common = {
  ...base,
  key: Type.String(),
  description: Type.String(),
  enable_interpolation_in_file: Type.Boolean(),
  scope: Enum(variableScopes),
  variable_type: Enum(variableTypes),
  service_id: Type.Optional(Uuid),
  service_name: Type.Optional(Type.String()),
  service_type: Type.Optional(Enum(serviceTypes)),
  owned_by: Type.String(),
}
export const origin = {
  id: Uuid,
  key: Type.String(),
  mount_path: Nullable(Type.String()),
  scope: Enum(variableScopes),
  variable_type: Enum(variableTypes),
}
const variableOrigin = Type.Optional(Type.Object({ ...origin, value: Type.String() }))
const secretOrigin = Type.Optional(
  Type.Object({ ...origin, description: Type.String(), enable_interpolation_in_file: Type.Boolean() }),
)

export const EnvironmentVariable = Type.Object({
  ...common,
  value: Type.String(),
  mount_path: Nullable(Type.String()),
  overridden_variable: variableOrigin,
  aliased_variable: variableOrigin,
})
/** Has no value at all. */
export const Secret = Type.Object({ ...common, overridden_secret: secretOrigin, aliased_secret: secretOrigin })

export const key = Text(255, 1)
export const value = Text(131_072)
export const details = {
  mount_path: Type.Optional(Nullable(Text(4096))),
  description: Type.Optional(Nullable(Text(255))),
  enable_interpolation_in_file: Type.Optional(Nullable(Type.Boolean())),
}
export const VariableCreate = Type.Object({ key, value, ...details })
export const VariableEdit = Type.Object({ key, value: Type.Optional(value), ...details })
/** An absent value, or null, keeps the stored one. */
export const SecretEdit = Type.Object({ key, value: Type.Optional(Nullable(value)), ...details })

const { description, enable_interpolation_in_file } = details
const remarks = { description, enable_interpolation_in_file }
/** An alias has no value of its own. */
export const AliasCreate = Type.Object({ key, ...remarks })
/** An override has the key of what it overrides. */
export const OverrideCreate = Type.Object({ value, ...remarks })

/** Variables and secrets of one scope: written once, for projects, environments and services (of one kind each). */
export function variableOperations<const K extends string, const P extends string, const T extends Target>(
  noun: K,
  path: P,
  target: T,
  kind?: string,
) {
  const tag = 'Variable'
  const targetWord = target === 'project' ? 'PROJECT' : target === 'environment' ? 'ENVIRONMENT' : 'SERVICE'
  const variables = `${path}/environmentVariable` as const
  const secrets = `${path}/secret` as const
  const place = { target, tag, ...(kind === undefined ? {} : { kind }) } as const
  const write = { ...place, access: 'write' } as const
  const read = { ...place, method: 'GET', access: 'read', status: 200 } as const
  return named(noun, {
    'list{Kind}EnvironmentVariable': operation({
      ...read,
      path: variables,
      handler: 'listVariables',
      summary: 'Every variable that can be reached here: own ones, those of wider scopes and built-in ones.',
      reply: Results(EnvironmentVariable),
    }),
    'create{Kind}EnvironmentVariable': operation({
      ...write,
      method: 'POST',
      path: variables,
      handler: 'createVariable',
      event: { type: 'CREATE', target: targetWord, sub: 'VARIABLE' },
      summary: 'Makes a variable; with `mount_path` a file. 409 when the key exists at this scope.',
      body: VariableCreate,
      reply: EnvironmentVariable,
      status: 201,
    }),
    'edit{Kind}EnvironmentVariable': operation({
      ...write,
      method: 'PUT',
      path: `${variables}/{environmentVariableId}`,
      handler: 'editVariable',
      event: { type: 'UPDATE', target: targetWord, sub: 'VARIABLE' },
      summary: 'Changes a variable of this scope; it takes effect at the next deployment.',
      body: VariableEdit,
      reply: EnvironmentVariable,
      status: 200,
    }),
    'delete{Kind}EnvironmentVariable': operation({
      ...write,
      method: 'DELETE',
      path: `${variables}/{environmentVariableId}`,
      handler: 'deleteVariable',
      event: { type: 'DELETE', target: targetWord, sub: 'VARIABLE' },
      summary: 'Removes a variable, with its aliases and overrides.',
      reply: NoBody,
      status: 204,
    }),
    'create{Kind}EnvironmentVariableAlias': operation({
      ...write,
      method: 'POST',
      path: `${variables}/{environmentVariableId}/alias`,
      handler: 'createAlias',
      event: { type: 'CREATE', target: targetWord, sub: 'VARIABLE' },
      summary: 'Gives a variable of this or a wider scope a second name here. 400 for an alias of an alias.',
      body: AliasCreate,
      reply: EnvironmentVariable,
      status: 201,
    }),
    'create{Kind}EnvironmentVariableOverride': operation({
      ...write,
      method: 'POST',
      path: `${variables}/{environmentVariableId}/override`,
      handler: 'createOverride',
      event: { type: 'CREATE', target: targetWord, sub: 'VARIABLE' },
      summary: 'Gives a variable of a wider scope another value here. 409 where it has one already.',
      body: OverrideCreate,
      reply: EnvironmentVariable,
      status: 201,
    }),
    'list{Kind}Secrets': operation({
      ...read,
      path: secrets,
      handler: 'listSecrets',
      summary: 'Every secret that can be reached here, without values.',
      reply: Results(Secret),
    }),
    'create{Kind}Secret': operation({
      ...write,
      method: 'POST',
      path: secrets,
      handler: 'createSecret',
      event: { type: 'CREATE', target: targetWord, sub: 'SECRET' },
      summary: 'Makes a secret; its value is never answered.',
      body: VariableCreate,
      reply: Secret,
      status: 201,
    }),
    'edit{Kind}Secret': operation({
      ...write,
      method: 'PUT',
      path: `${secrets}/{secretId}`,
      handler: 'editSecret',
      event: { type: 'UPDATE', target: targetWord, sub: 'SECRET' },
      summary: 'Changes a secret of this scope; an absent value stays.',
      body: SecretEdit,
      reply: Secret,
      status: 200,
    }),
    'delete{Kind}Secret': operation({
      ...write,
      method: 'DELETE',
      path: `${secrets}/{secretId}`,
      handler: 'deleteSecret',
      event: { type: 'DELETE', target: targetWord, sub: 'SECRET' },
      summary: 'Removes a secret, with its aliases and overrides.',
      reply: NoBody,
      status: 204,
    }),
    'create{Kind}SecretAlias': operation({
      ...write,
      method: 'POST',
      path: `${secrets}/{secretId}/alias`,
      handler: 'createSecretAlias',
      event: { type: 'CREATE', target: targetWord, sub: 'SECRET' },
      summary: 'Gives a secret of this or a wider scope a second name here. 400 for an alias of an alias.',
      body: AliasCreate,
      reply: Secret,
      status: 201,
    }),
    'create{Kind}SecretOverride': operation({
      ...write,
      method: 'POST',
      path: `${secrets}/{secretId}/override`,
      handler: 'createSecretOverride',
      event: { type: 'CREATE', target: targetWord, sub: 'SECRET' },
      summary: 'Gives a secret of a wider scope another value here. 409 where it has one already.',
      body: OverrideCreate,
      reply: Secret,
      status: 201,
    }),
  })
}
