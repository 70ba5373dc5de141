import { newId } from '../lib/id.ts'
import { takeRoom } from '../limits/index.ts'
import { type Changing, change, type VariableContext } from './change.ts'
import { countByOwner, insertRows, lockRows, updateTexts } from './import-store.ts'
import { type Creation, type ImportedVariable, type ImportPlan, planImport, type Replacement } from './plan-import.ts'
import { findAll } from './reachable.ts'
import { apiScopeOf, type Reachable, scopeOf } from './record.ts'
import { type Chain, chainOf, ownerOf, type Scope, type ServiceScope, widen } from './scope.ts'
import { ownedBy } from './write-variable.ts'

export interface Import<V extends ImportedVariable> {
  readonly overwrite: boolean
  readonly vars: readonly V[]
}

/**
 * Writes variables and secrets to the service or to a wider scope and returns the written ones. It
 * writes all or none. Throws AppError `invalid`, which names the invalid field. The caller has
 * authorized the scopes of the variables.
 */
export async function importVariables<V extends ImportedVariable>(
  context: VariableContext,
  service: ServiceScope,
  { overwrite, vars }: Import<V>,
): Promise<readonly V[]> {
  const widest = widestOf(service, vars)
  return change(context, widest, 'like one of those sent', async (changing) => {
    const { sql, outdate } = changing
    const reachable = await findAll(sql, service)
    const plan = planImport(vars, { overwrite, ...presentOf(reachable), ownScope: apiScopeOf(service.kind), newId })
    await lockRows(sql, [
      ...plan.replacements.map(({ id }) => id),
      ...plan.creations.flatMap(({ baseId }) => baseId ?? []),
    ])
    const effective = await write(context, changing, service, reachable, plan)
    await outdate(effective)
    return plan.written
  })
}

const presentOf = ({ rows, builtIns }: Reachable) => ({
  present: rows.map((row) => ({
    id: row.id,
    key: row.key,
    scope: scopeOf(row),
    isAlias: row.variable_type === 'ALIAS',
    isSecret: row.is_secret,
  })),
  builtInKeys: new Set(builtIns.map(({ key }) => key)),
})

function widestOf(service: ServiceScope, vars: readonly ImportedVariable[]): Scope {
  const names = new Set(vars.map(({ scope }) => scope))
  return (
    widen(service, names.has('PROJECT') ? 'PROJECT' : names.has('ENVIRONMENT') ? 'ENVIRONMENT' : 'SERVICE') ?? service
  )
}

/** Returns the changes that can affect services. */
async function write(
  context: VariableContext,
  { sql }: Changing,
  service: ServiceScope,
  { rows }: Reachable,
  { creations, replacements }: ImportPlan<ImportedVariable>,
) {
  const texts = await seal(context, { sql }, service, [...creations, ...replacements])
  const now = context.clock.now()
  const made = creations.map((one) => ({ ...rowOf(one, chainOf(service)), ...texts.of(one) }))
  for (const [owner, count] of countByOwner(made)) await takeRoom(sql, 'variables', owner, count)
  await insertRows(sql, made, now)
  await updateTexts(
    sql,
    replacements.map((one) => ({ id: one.id, ...texts.of(one) })),
    now,
  )
  const former = new Map(rows.map((row) => [row.id, row.value]))
  const differs = (one: Replacement): boolean => one.isSecret || former.get(one.id) !== one.text
  const changeOf = ({ id, key, scope }: Creation | Replacement, isValueOnly: boolean) => ({
    id,
    owner: ownerOf(widen(service, scope) ?? service),
    keys: [key],
    isValueOnly,
  })
  return [
    ...creations.map((one) => changeOf(one, false)),
    ...replacements.filter(differs).map((one) => changeOf(one, true)),
  ]
}

const rowOf = ({ id, key, scope, isSecret, baseId }: Creation, { projectId, environmentId, serviceId }: Chain) => ({
  id,
  project_id: scope === 'PROJECT' ? projectId : null,
  environment_id: scope === 'ENVIRONMENT' ? environmentId : null,
  service_id: scope === 'SERVICE' ? serviceId : null,
  key,
  variable_type: baseId === null ? ('VALUE' as const) : ('OVERRIDE' as const),
  is_secret: isSecret,
  mount_path: null,
  description: '',
  enable_interpolation_in_file: false,
  base_id: baseId,
  base_built_in_id: null,
  owned_by: ownedBy,
})

/** Returns the texts in their columns, secrets sealed. */
async function seal(
  { vault }: VariableContext,
  { sql }: Pick<Changing, 'sql'>,
  { organizationId }: ServiceScope,
  all: readonly (Creation | Replacement)[],
) {
  const secrets = all.filter(({ isSecret }) => isSecret)
  const sealed = await vault.sealAll(
    sql,
    organizationId,
    secrets.map(({ id, text }) => ({ cell: { table: 'variable', row: id, column: 'sealed_value' }, text })),
  )
  const byId = new Map(secrets.map(({ id }, index) => [id, sealed[index] ?? null]))
  return {
    of: ({ id, isSecret, text }: Creation | Replacement) =>
      isSecret ? { value: null, sealed_value: byId.get(id) ?? null } : { value: text, sealed_value: null },
  }
}
