import { notFound } from '../lib/error.ts'
import type { VariableContext } from './change.ts'
import type { EditedVariable, NewVariable } from './plan-change.ts'
import type { NewStanding } from './plan-standing.ts'
import { findAll } from './reachable.ts'
import { type AnyRecord, anyBuiltInRecord, toAnyRecord } from './record.ts'
import type { Scope } from './scope.ts'
import type { VariableTarget } from './target-store.ts'
import { create, edit, remove, standOn } from './write-variable.ts'

/**
 * `Variables` for callers that do not say whether they mean a variable or a secret. It throws the
 * same errors.
 */

/** If `isSecret` is undefined, both are listed. */
export async function listAny(
  { database }: Pick<VariableContext, 'database'>,
  scope: Scope,
  isSecret: boolean | undefined,
): Promise<AnyRecord[]> {
  const reachable = await findAll(database, scope)
  const all = [...reachable.builtIns.map(anyBuiltInRecord), ...reachable.rows.map((row) => toAnyRecord(row, reachable))]
  return isSecret === undefined ? all : all.filter((record) => record.is_secret === isSecret)
}

export const createAny = async (
  context: VariableContext,
  scope: Scope,
  { is_secret, ...input }: NewVariable & { readonly is_secret: boolean },
): Promise<AnyRecord> => {
  const row = await create(context, scope, is_secret ? 'secret' : 'variable', input)
  return toAnyRecord(row, { scope, rows: [], builtIns: [] })
}

export const standOnAny = (
  context: VariableContext,
  scope: Scope,
  base: VariableTarget,
  input: NewStanding,
): Promise<AnyRecord> => standOn(context, scope, 'any', base.id, input, toAnyRecord)

export const editAny = (context: VariableContext, target: VariableTarget, input: EditedVariable): Promise<AnyRecord> =>
  edit(context, scopeOfTarget(target), 'any', target.id, input, toAnyRecord)

export const removeAny = (context: VariableContext, target: VariableTarget): Promise<void> =>
  remove(context, scopeOfTarget(target), 'any', target.id)

/** The scope of the variable. A built-in variable has the scope of the object that it describes. */
function scopeOfTarget(target: VariableTarget): Scope {
  const { organization_id: organizationId, project_id: projectId, environment_id: environmentId } = target
  if (environmentId === null) return { scope: 'PROJECT', projectId, organizationId }
  const { service_id: serviceId, service_name: serviceName, service_kind: kind } = target
  if (serviceId === null) return { scope: 'ENVIRONMENT', environmentId, projectId, organizationId }
  if (serviceName === null || kind === null) throw notFound('variable', target.id)
  return { scope: 'SERVICE', serviceId, serviceName, kind, environmentId, projectId, organizationId }
}
