import type { VariableContext } from './change.ts'
import type { EditedVariable, NewVariable } from './plan-change.ts'
import type { NewStanding } from './plan-standing.ts'
import { findAll } from './reachable.ts'
import {
  builtInRecord,
  builtInSecretRecord,
  type SecretRecord,
  toSecretRecord,
  toVariableRecord,
  type VariableRecord,
} from './record.ts'
import type { Scope } from './scope.ts'
import { create, edit, remove, standOn } from './write-variable.ts'

/**
 * The operations on variables and secrets of a project, an environment or a service. The caller has
 * loaded and authorized the scope. Every change marks the services that see the variable as out of
 * date, in the same transaction.
 *
 * Throws AppError: `invalid` (names the field, or says where to edit instead), `notFound` (not
 * reachable from the scope), `conflict` (the key or the mount path is taken), `sealed` (a secret's
 * text is needed and the vault is sealed).
 */

/** All reachable variables: the scope's own, wider ones, shadowed ones, and the built-ins. */
export async function listVariables(
  { database }: Pick<VariableContext, 'database'>,
  scope: Scope,
): Promise<VariableRecord[]> {
  const reachable = await findAll(database, scope)
  return [
    ...reachable.builtIns.filter(({ isSecret }) => !isSecret).map(builtInRecord),
    ...reachable.rows.filter((row) => !row.is_secret).map((row) => toVariableRecord(row, reachable)),
  ]
}

/** The same as variables, without any value. */
export async function listSecrets(
  { database }: Pick<VariableContext, 'database'>,
  scope: Scope,
): Promise<SecretRecord[]> {
  const reachable = await findAll(database, scope)
  return [
    ...reachable.builtIns.filter(({ isSecret }) => isSecret).map(builtInSecretRecord),
    ...reachable.rows.filter((row) => row.is_secret).map((row) => toSecretRecord(row, reachable)),
  ]
}

export const createVariable = async (
  context: VariableContext,
  scope: Scope,
  input: NewVariable,
): Promise<VariableRecord> =>
  toVariableRecord(await create(context, scope, 'variable', input), { scope, rows: [], builtIns: [] })

export const createSecret = async (context: VariableContext, scope: Scope, input: NewVariable): Promise<SecretRecord> =>
  toSecretRecord(await create(context, scope, 'secret', input), { scope, rows: [], builtIns: [] })

/** Creates an alias or override of a variable of the same or a wider scope. */
export const standOnVariable = (
  context: VariableContext,
  scope: Scope,
  baseId: string,
  input: NewStanding,
): Promise<VariableRecord> => standOn(context, scope, 'variable', baseId, input, toVariableRecord)

export const standOnSecret = (
  context: VariableContext,
  scope: Scope,
  baseId: string,
  input: NewStanding,
): Promise<SecretRecord> => standOn(context, scope, 'secret', baseId, input, toSecretRecord)

export const editVariable = (
  context: VariableContext,
  scope: Scope,
  id: string,
  input: EditedVariable,
): Promise<VariableRecord> => edit(context, scope, 'variable', id, input, toVariableRecord)

export const editSecret = (
  context: VariableContext,
  scope: Scope,
  id: string,
  input: EditedVariable,
): Promise<SecretRecord> => edit(context, scope, 'secret', id, input, toSecretRecord)

export const removeVariable = (context: VariableContext, scope: Scope, id: string): Promise<void> =>
  remove(context, scope, 'variable', id)

export const removeSecret = (context: VariableContext, scope: Scope, id: string): Promise<void> =>
  remove(context, scope, 'secret', id)
