import type { Static } from '@quayside/contract'
import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { AnyVariable } from '@quayside/contract/resources/any-variable.ts'
import type { EnvironmentVariable, Secret as SecretSchema } from '@quayside/contract/resources/variable.ts'
import { Secret } from '../lib/secret.ts'
import type { BuiltIn } from './built-ins.ts'
import type { Scope, ServiceScope } from './scope.ts'
import type { VariableRow } from './variable-store.ts'

/** The records as the API returns them. The type of secrets has no value. */
export type VariableRecord = Static<typeof EnvironmentVariable>
export type SecretRecord = Static<typeof SecretSchema>
/** A variable or a secret. `is_secret` says which. */
export type AnyRecord = Static<typeof AnyVariable>
type CommonRecord = Omit<SecretRecord, 'mount_path' | 'overridden_secret' | 'aliased_secret'>

type BaseVariable = Pick<VariableRecord, 'id' | 'key' | 'value' | 'mount_path' | 'scope' | 'variable_type'>
type BaseSecret = Pick<VariableRecord, 'id' | 'key' | 'mount_path' | 'scope' | 'variable_type'> &
  Pick<VariableRecord, 'description' | 'enable_interpolation_in_file'>

/** All variables that are reachable from one scope, for looking up bases. */
export interface Reachable {
  readonly scope: Scope
  readonly rows: readonly VariableRow[]
  readonly builtIns: readonly BuiltIn[]
}

export const scopeOf = (row: VariableRow): Scope['scope'] => {
  if (row.service_id !== null) return 'SERVICE'
  return row.environment_id === null ? 'PROJECT' : 'ENVIRONMENT'
}

export function toVariableRecord(row: VariableRow, reachable: Reachable): VariableRecord {
  const common = commonRecord(row, reachable.scope)
  const base = baseOf(row, reachable)
  const mount_path = mountPathOf(row, reachable)
  if (row.variable_type === 'ALIAS')
    return { ...common, value: base?.key ?? '', mount_path, ...(base && { aliased_variable: base }) }
  const isOverride = row.variable_type === 'OVERRIDE' && base
  return { ...common, value: row.value ?? '', mount_path, ...(isOverride && { overridden_variable: base }) }
}

export function toSecretRecord(row: VariableRow, reachable: Reachable): SecretRecord {
  const common = { ...commonRecord(row, reachable.scope), mount_path: mountPathOf(row, reachable) }
  const found = commonBaseOf(row, reachable)
  if (!found) return common
  const { id, key, scope, variable_type, description, enable_interpolation_in_file, mount_path } = found
  const base: BaseSecret = { id, key, mount_path, scope, variable_type, description, enable_interpolation_in_file }
  return row.variable_type === 'ALIAS' ? { ...common, aliased_secret: base } : { ...common, overridden_secret: base }
}

/** Returns a variable or a secret. All values of a secret are null. */
export function toAnyRecord(row: VariableRow, reachable: Reachable): AnyRecord {
  const common = commonRecord(row, reachable.scope)
  const mount_path = mountPathOf(row, reachable)
  if (!row.is_secret) return { ...toVariableRecord(row, reachable), is_secret: false }
  const found = commonBaseOf(row, reachable)
  const whole = { ...common, value: null, mount_path, is_secret: true }
  if (!found) return whole
  const { id, key, scope, variable_type, mount_path: basePath } = found
  const base = { id, key, value: null, mount_path: basePath, scope, variable_type }
  return row.variable_type === 'ALIAS' ? { ...whole, aliased_variable: base } : { ...whole, overridden_variable: base }
}

export const builtInRecord = (builtIn: BuiltIn): VariableRecord => ({
  ...builtInCommon(builtIn),
  value: builtIn.value instanceof Secret ? '' : builtIn.value,
  mount_path: null,
})

export const builtInSecretRecord = (builtIn: BuiltIn): SecretRecord => ({ ...builtInCommon(builtIn), mount_path: null })

export const anyBuiltInRecord = (builtIn: BuiltIn): AnyRecord =>
  builtIn.isSecret
    ? { ...builtInCommon(builtIn), value: null, mount_path: null, is_secret: true }
    : { ...builtInRecord(builtIn), is_secret: false }

const builtInCommon = (builtIn: BuiltIn): CommonRecord => ({
  id: builtIn.id,
  created_at: builtIn.created_at,
  updated_at: builtIn.updated_at,
  key: builtIn.key,
  scope: 'BUILT_IN',
  variable_type: 'BUILT_IN',
  description: '',
  enable_interpolation_in_file: false,
  ...(builtIn.service && {
    service_id: builtIn.service.id,
    service_name: builtIn.service.name,
    service_type: serviceTypeOf(builtIn.service.kind),
  }),
  // Clients know this text for variables of the platform.
  owned_by: 'QOVERY',
})

function commonRecord(row: VariableRow, scope: Scope): CommonRecord {
  const service = row.service_id !== null && scope.scope === 'SERVICE' ? scope : undefined
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    key: row.key,
    scope: apiScope(row, service),
    variable_type: row.variable_type,
    description: row.description,
    enable_interpolation_in_file: row.enable_interpolation_in_file,
    ...(service && serviceFields(service)),
    owned_by: row.owned_by,
  }
}

/**
 * Returns the scope for variables of a service of this kind. The API has none for databases, which
 * own no variables.
 */
export function apiScopeOf(kind: string): VariableRecord['scope'] {
  const type = serviceTypeOf(kind)
  return type === 'DATABASE' ? 'APPLICATION' : type
}

/** Returns `PROJECT`, `ENVIRONMENT`, or the type of the service. */
function apiScope(row: VariableRow, service: ServiceScope | undefined): VariableRecord['scope'] {
  const scope = scopeOf(row)
  return scope === 'SERVICE' ? apiScopeOf(service?.kind ?? 'application') : scope
}

const serviceFields = ({ serviceId, serviceName, kind }: ServiceScope) => ({
  service_id: serviceId,
  service_name: serviceName,
  service_type: serviceTypeOf(kind),
})

/** Returns the base of an alias or override, if it still exists. */
function baseOf(row: VariableRow, reachable: Reachable): BaseVariable | undefined {
  const found = reachable.rows.find(({ id }) => id === row.base_id)
  const builtIn = reachable.builtIns.find(({ id }) => id === row.base_built_in_id)
  const record = found ? toVariableRecord(found, reachable) : builtIn && builtInRecord(builtIn)
  if (!record) return undefined
  const { id, key, value, mount_path, scope, variable_type } = record
  return { id, key, value, mount_path, scope, variable_type }
}

/** Returns the base of a secret without any value. */
function commonBaseOf(
  row: VariableRow,
  reachable: Reachable,
): (CommonRecord & { readonly mount_path: string | null }) | undefined {
  const found = reachable.rows.find(({ id }) => id === row.base_id)
  if (found) return { ...commonRecord(found, reachable.scope), mount_path: mountPathOf(found, reachable) }
  const builtIn = reachable.builtIns.find(({ id }) => id === row.base_built_in_id)
  return builtIn && { ...builtInCommon(builtIn), mount_path: null }
}

/** Aliases and overrides have the mount path of their base. */
export function mountPathOf(row: VariableRow, reachable: Reachable): string | null {
  if (row.mount_path !== null || row.base_id === null) return row.mount_path
  const base = reachable.rows.find(({ id }) => id === row.base_id)
  return base ? mountPathOf(base, reachable) : null
}
