import type { AuditSubTarget, AuditType } from '../audit.ts'
import { serviceTypes, variableScopes, variableTypes } from '../enums.ts'
import { named, operation, type Target } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, type TObject, type TSchema, Type, Uuid } from '../schema.ts'

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

/** Variables and secrets have the same operations: here is what differs. */
const families = {
  variable: {
    noun: 'EnvironmentVariable',
    sub: 'VARIABLE',
    segment: 'environmentVariable',
    id: '{environmentVariableId}',
    edit: VariableEdit,
    record: EnvironmentVariable,
    handler: 'Variable',
    creates: 'Makes a variable; with `mount_path` a file. 409 when the key exists at this scope.',
    edits: 'Changes a variable of this scope; it takes effect at the next deployment.',
    one: 'a variable',
  },
  secret: {
    noun: 'Secret',
    sub: 'SECRET',
    segment: 'secret',
    id: '{secretId}',
    edit: SecretEdit,
    record: Secret,
    handler: 'Secret',
    creates: 'Makes a secret; its value is never answered.',
    edits: 'Changes a secret of this scope; an absent value stays.',
    one: 'a secret',
  },
} as const

interface Family<N extends string, S extends string, I extends string, E, R, H extends string> {
  readonly noun: N
  readonly sub: AuditSubTarget
  readonly segment: S
  readonly id: I
  readonly edit: E
  readonly record: R
  /** `createSecret`, `createSecretAlias` … */
  readonly handler: H
  readonly creates: string
  readonly edits: string
  readonly one: string
}

interface Place<T extends Target> {
  readonly target: T
  readonly tag: string
  readonly kind?: string
}

/** create, edit, delete, alias, override. */
function familyOperations<
  const K extends string,
  const P extends string,
  const T extends Target,
  const N extends string,
  const S extends string,
  const I extends string,
  const E extends TObject,
  const R extends TSchema,
  const H extends string,
>(noun: K, path: P, place: Place<T>, family: Family<N, S, I, E, R, H>) {
  const { sub, segment, id, edit, record, handler, creates, edits, one } = family
  const { target } = place
  const targetWord = target === 'project' ? 'PROJECT' : target === 'environment' ? 'ENVIRONMENT' : 'SERVICE'
  const all = `${path}/${segment}` as const
  const single = `${all}/${id}` as const
  const event = <const E extends AuditType>(type: E) => ({ type, target: targetWord, sub }) as const
  const write = { ...place, access: 'write' } as const
  const made = { ...write, method: 'POST', event: event('CREATE'), reply: record, status: 201 } as const
  return named(`${noun}${family.noun}` as const, {
    'create{Kind}': operation({
      ...made,
      path: all,
      handler: `create${handler}`,
      summary: creates,
      body: VariableCreate,
    }),
    'edit{Kind}': operation({
      ...write,
      method: 'PUT',
      path: single,
      handler: `edit${handler}`,
      event: event('UPDATE'),
      summary: edits,
      body: edit,
      reply: record,
      status: 200,
    }),
    'delete{Kind}': operation({
      ...write,
      method: 'DELETE',
      path: single,
      handler: `delete${handler}`,
      event: event('DELETE'),
      summary: `Removes ${one}, with its aliases and overrides.`,
      reply: NoBody,
      status: 204,
    }),
    'create{Kind}Alias': operation({
      ...made,
      path: `${single}/alias`,
      handler: `create${handler}Alias`,
      summary: `Gives ${one} of this or a wider scope a second name here. 400 for an alias of an alias.`,
      body: AliasCreate,
    }),
    'create{Kind}Override': operation({
      ...made,
      path: `${single}/override`,
      handler: `create${handler}Override`,
      summary: `Gives ${one} of a wider scope another value here. 409 where it has one already.`,
      body: OverrideCreate,
    }),
  })
}

/** Variables and secrets of one scope: written once, for projects, environments and services (of one kind each). */
export function variableOperations<const K extends string, const P extends string, const T extends Target>(
  noun: K,
  path: P,
  target: T,
  kind?: string,
) {
  const place = { target, tag: 'Variable', ...(kind === undefined ? {} : { kind }) } as const
  const read = { ...place, method: 'GET', access: 'read', status: 200 } as const
  return {
    ...named(noun, {
      'list{Kind}EnvironmentVariable': operation({
        ...read,
        path: `${path}/environmentVariable`,
        handler: 'listVariables',
        summary: 'Every variable that can be reached here: own ones, those of wider scopes and built-in ones.',
        reply: Results(EnvironmentVariable),
      }),
      'list{Kind}Secrets': operation({
        ...read,
        path: `${path}/secret`,
        handler: 'listSecrets',
        summary: 'Every secret that can be reached here, without values.',
        reply: Results(Secret),
      }),
    }),
    ...familyOperations(noun, path, place, families.variable),
    ...familyOperations(noun, path, place, families.secret),
  }
}
