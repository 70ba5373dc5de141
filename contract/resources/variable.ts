import { serviceTypes, variableScopes, variableTypes } from '../enums.ts'
import { base, Enum, Nullable, Text, Type, Uuid } from '../schema.ts'

/** The fields that variables and secrets share. */
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
/** A secret, without its value. */
export const Secret = Type.Object({
  ...common,
  mount_path: Nullable(Type.String()),
  overridden_secret: secretOrigin,
  aliased_secret: secretOrigin,
})

export const key = Text(255, 1)
export const value = Text(131_072)
export const details = {
  mount_path: Type.Optional(Nullable(Text(4096))),
  description: Type.Optional(Nullable(Text(255))),
  enable_interpolation_in_file: Type.Optional(Nullable(Type.Boolean())),
}
export const VariableCreate = Type.Object({ key, value, ...details })
export const VariableEdit = Type.Object({ key, value: Type.Optional(value), ...details })
/** An absent or null value keeps the stored one. */
export const SecretEdit = Type.Object({ key, value: Type.Optional(Nullable(value)), ...details })

const { description, enable_interpolation_in_file } = details
const remarks = { description, enable_interpolation_in_file }
/** An alias has no value of its own. */
export const AliasCreate = Type.Object({ key, ...remarks })
/** An override has the key of what it overrides. */
export const OverrideCreate = Type.Object({ value, ...remarks })
