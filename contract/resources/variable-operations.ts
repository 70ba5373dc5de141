import type { AuditSubTarget, AuditType } from '../audit.ts'
import { named, operation, type Target } from '../operation.ts'
import { NoBody, Results, type TObject, type TSchema } from '../schema.ts'
import {
  AliasCreate,
  EnvironmentVariable,
  OverrideCreate,
  Secret,
  SecretEdit,
  VariableCreate,
  VariableEdit,
} from './variable.ts'

/** The differences between the operations of variables and of secrets. */
const families = {
  variable: {
    noun: 'EnvironmentVariable',
    sub: 'VARIABLE',
    segment: 'environmentVariable',
    id: '{environmentVariableId}',
    edit: VariableEdit,
    record: EnvironmentVariable,
    handler: 'Variable',
    creates: 'Creates a variable or, with `mount_path`, a file. 409 if the key exists at this scope.',
    edits: 'Changes a variable of this scope. It takes effect at the next deployment.',
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
    creates: 'Creates a secret. Its value is never returned.',
    edits: 'Changes a secret of this scope. An absent value is unchanged.',
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
  const { segment, id, edit, record, handler, one } = family
  const all = `${path}/${segment}` as const
  const single = `${all}/${id}` as const
  const target = place.target === 'project' ? 'PROJECT' : place.target === 'environment' ? 'ENVIRONMENT' : 'SERVICE'
  const write = <const E extends AuditType>(type: E) =>
    ({ ...place, access: 'write', event: { type, target, sub: family.sub } }) as const
  const make = { ...write('CREATE'), method: 'POST', reply: record, status: 201 } as const
  return named(`${noun}${family.noun}` as const, {
    'create{Kind}': operation({
      ...make,
      path: all,
      handler: `create${handler}`,
      summary: family.creates,
      body: VariableCreate,
    }),
    'edit{Kind}': operation({
      ...write('UPDATE'),
      method: 'PUT',
      path: single,
      handler: `edit${handler}`,
      summary: family.edits,
      body: edit,
      reply: record,
      status: 200,
    }),
    'delete{Kind}': operation({
      ...write('DELETE'),
      method: 'DELETE',
      path: single,
      handler: `delete${handler}`,
      summary: `Deletes ${one} with its aliases and overrides.`,
      reply: NoBody,
      status: 204,
    }),
    'create{Kind}Alias': operation({
      ...make,
      path: `${single}/alias`,
      handler: `create${handler}Alias`,
      summary: `Creates an alias of ${one} from this or a wider scope. 400 for an alias of an alias.`,
      body: AliasCreate,
    }),
    'create{Kind}Override': operation({
      ...make,
      path: `${single}/override`,
      handler: `create${handler}Override`,
      summary: `Creates an override of ${one} from a wider scope. 409 if it already has one here.`,
      body: OverrideCreate,
    }),
  })
}

/** The operations on variables and secrets of a project, an environment or one kind of service. */
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
        summary:
          'Lists every variable that is visible at this scope: its own, those of wider scopes and built-in ones.',
        reply: Results(EnvironmentVariable),
      }),
      'list{Kind}Secrets': operation({
        ...read,
        path: `${path}/secret`,
        handler: 'listSecrets',
        summary: 'Lists every secret that is visible at this scope, without values.',
        reply: Results(Secret),
      }),
    }),
    ...familyOperations(noun, path, place, families.variable),
    ...familyOperations(noun, path, place, families.secret),
  }
}
