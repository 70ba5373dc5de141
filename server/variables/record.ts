import type { Static } from '@quayside/contract'
import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { EnvironmentVariable, Secret as SecretSchema } from '@quayside/contract/resources/variable.ts'
import type { BuiltIn } from './built-ins.ts'
import type { Scope, ServiceScope } from './scope.ts'
import type { VariableRow } from './variable-store.ts'

/** The records as they go over the wire; of secrets no value, by their type. */
export type VariableRecord = Static<typeof EnvironmentVariable>
export type SecretRecord = Static<typeof SecretSchema>
type CommonRecord = SecretRecord

type BaseVariable = Pick<VariableRecord, 'id' | 'key' | 'value' | 'mount_path' | 'scope' | 'variable_type'>
type BaseSecret = Pick<VariableRecord, 'id' | 'key' | 'mount_path' | 'scope' | 'variable_type'> &
  Pick<VariableRecord, 'description' | 'enable_interpolation_in_file'>

/** Everything reachable from one scope, to look bases up in. */
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
  const common = commonRecord(row, reachable.scope)
  const found = reachable.rows.find(({ id }) => id === row.base_id)
  if (!found) return common
  const { id, key, scope, variable_type, description, enable_interpolation_in_file } = commonRecord(
    found,
    reachable.scope,
  )
  const mount_path = mountPathOf(found, reachable)
  const base: BaseSecret = { id, key, mount_path, scope, variable_type, description, enable_interpolation_in_file }
  return row.variable_type === 'ALIAS' ? { ...common, aliased_secret: base } : { ...common, overridden_secret: base }
}

export const builtInRecord = (builtIn: BuiltIn): VariableRecord => ({
  id: builtIn.id,
  created_at: builtIn.created_at,
  updated_at: builtIn.updated_at,
  key: builtIn.key,
  value: builtIn.value,
  mount_path: null,
  scope: 'BUILT_IN',
  variable_type: 'BUILT_IN',
  description: '',
  enable_interpolation_in_file: false,
  ...(builtIn.service && {
    service_id: builtIn.service.id,
    service_name: builtIn.service.name,
    service_type: serviceTypeOf(builtIn.service.kind),
  }),
  // the text that clients know for what the platform made
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

/** `PROJECT`, `ENVIRONMENT`, or the type of the service; a database has no variables of its own. */
function apiScope(row: VariableRow, service: ServiceScope | undefined): VariableRecord['scope'] {
  const scope = scopeOf(row)
  if (scope !== 'SERVICE') return scope
  const type = serviceTypeOf(service?.kind ?? 'application')
  return type === 'DATABASE' ? 'APPLICATION' : type
}

const serviceFields = ({ serviceId, serviceName, kind }: ServiceScope) => ({
  service_id: serviceId,
  service_name: serviceName,
  service_type: serviceTypeOf(kind),
})

/** What an alias or override stands on, where it is still there. */
function baseOf(row: VariableRow, reachable: Reachable): BaseVariable | undefined {
  const found = reachable.rows.find(({ id }) => id === row.base_id)
  const builtIn = reachable.builtIns.find(({ id }) => id === row.base_built_in_id)
  const record = found ? toVariableRecord(found, reachable) : builtIn && builtInRecord(builtIn)
  if (!record) return undefined
  const { id, key, value, mount_path, scope, variable_type } = record
  return { id, key, value, mount_path, scope, variable_type }
}

/** Aliases and overrides are mounted where their base is. */
export function mountPathOf(row: VariableRow, reachable: Reachable): string | null {
  if (row.mount_path !== null || row.base_id === null) return row.mount_path
  const base = reachable.rows.find(({ id }) => id === row.base_id)
  return base ? mountPathOf(base, reachable) : null
}
