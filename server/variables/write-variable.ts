import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { change, keyTaken, type VariableContext } from './change.ts'
import { type EditedVariable, type NewVariable, planEdit, planNew } from './plan-change.ts'
import { type NewStanding, planStanding } from './plan-standing.ts'
import { findBase, findOwn, type Sort } from './reachable.ts'
import { mountPathOf, type Reachable } from './record.ts'
import { chainOf, ownerOf, type Scope } from './scope.ts'
import * as store from './variable-store.ts'

export const ownedBy = 'QUAYSIDE'

export async function create(
  context: VariableContext,
  scope: Scope,
  sort: Exclude<Sort, 'any'>,
  input: NewVariable,
): Promise<store.VariableRow> {
  const { text, ...plan } = planNew(input)
  const id = newId()
  return change(context, scope, plan.key, async ({ sql, outdate }) => {
    if (await store.isKeyTaken(sql, ownerOf(scope), plan.key)) throw keyTaken(plan.key)
    if (plan.mount_path !== null) await claimPath(sql, scope, plan.mount_path, plan.key)
    const row = await store.insertVariable(sql, ownerOf(scope), {
      ...plan,
      id,
      created_at: context.clock.now(),
      is_secret: sort === 'secret',
      ...(await textColumns(context, sql, scope, sort === 'secret', id, text)),
      base_id: null,
      base_built_in_id: null,
      owned_by: ownedBy,
    })
    await outdate([{ id, owner: ownerOf(scope), keys: [plan.key], isValueOnly: false }])
    return row
  })
}

/**
 * Creates an alias or override of a variable that the scope can reach, and returns the record that
 * `toRecord` builds.
 */
export async function standOn<T>(
  context: VariableContext,
  scope: Scope,
  sort: Sort,
  baseId: string,
  input: NewStanding,
  toRecord: (row: store.VariableRow, reachable: Reachable) => T,
): Promise<T> {
  const id = newId()
  return change(context, scope, input.type === 'ALIAS' ? input.key : '', async ({ sql, outdate }) => {
    const { base, reachable } = await findBase(sql, scope, sort, baseId)
    const { text, ...plan } = planStanding(scope, base, input)
    if (await store.isKeyTaken(sql, ownerOf(scope), plan.key)) throw keyTaken(plan.key)
    const row = await store.insertVariable(sql, ownerOf(scope), {
      ...plan,
      id,
      created_at: context.clock.now(),
      mount_path: null,
      ...(await textColumns(context, sql, scope, plan.is_secret, id, text)),
      owned_by: ownedBy,
    })
    await outdate([{ id, owner: ownerOf(scope), keys: [plan.key], isValueOnly: false }])
    return toRecord(row, reachable)
  })
}

/** Returns the record that `toRecord` builds from the edited row. */
export async function edit<T>(
  context: VariableContext,
  scope: Scope,
  sort: Sort,
  id: string,
  input: EditedVariable,
  toRecord: (row: store.VariableRow, reachable: Reachable) => T,
): Promise<T> {
  return change(context, scope, input.key ?? '', async ({ sql, outdate }) => {
    const { row, reachable } = await findOwn(sql, scope, sort, id)
    const baseKey = [...reachable.rows, ...reachable.builtIns].find(
      (one) => one.id === (row.base_id ?? row.base_built_in_id),
    )?.key
    const plan = planEdit(row, { baseKey, mountPath: mountPathOf(row, reachable) }, input)
    const { key = row.key, mount_path } = plan.changes
    if (key !== row.key && (await store.isKeyTaken(sql, ownerOf(scope), key))) throw keyTaken(key)
    if (typeof mount_path === 'string') await claimPath(sql, scope, mount_path, key)
    const columns = plan.text === undefined ? {} : await editedText(context, sql, scope, row, plan.text)
    const changes = { ...plan.changes, ...columns }
    if (Object.keys(changes).length === 0) return toRecord(row, reachable)
    const updated_at = context.clock.now()
    await store.updateVariable(sql, id, updated_at, changes)
    if (key !== row.key) await store.renameOverrides(sql, id, updated_at, key)
    const isValueOnly = key === row.key && mount_path === undefined
    if (plan.isEffective) await outdate([{ id, owner: ownerOf(scope), keys: [row.key, key], isValueOnly }])
    return toRecord({ ...row, ...changes, updated_at }, reachable)
  })
}

/** Removes the variable with its aliases and overrides. */
export async function remove(context: VariableContext, scope: Scope, sort: Sort, id: string): Promise<void> {
  await change(context, scope, '', async ({ sql, outdate }) => {
    const { row } = await findOwn(sql, scope, sort, id)
    await outdate([{ id, owner: ownerOf(scope), keys: [row.key], isValueOnly: false }])
    await store.deleteVariable(sql, id)
  })
}

/** Returns the text in its column. An alias has a text in neither column. */
async function textColumns(
  context: VariableContext,
  sql: Sql,
  scope: Scope,
  isSecret: boolean,
  id: string,
  text: string | undefined,
) {
  if (text === undefined) return { value: null, sealed_value: null }
  if (!isSecret) return { value: text, sealed_value: null }
  const cell = { table: 'variable', row: id, column: 'sealed_value' }
  return { value: null, sealed_value: await context.vault.seal(sql, scope.organizationId, cell, text) }
}

async function editedText(context: VariableContext, sql: Sql, scope: Scope, row: store.VariableRow, text: string) {
  const { value, sealed_value } = await textColumns(context, sql, scope, row.is_secret, row.id, text)
  return sealed_value === null ? { value } : { sealed_value }
}

async function claimPath(sql: Sql, scope: Scope, path: string, key: string): Promise<void> {
  await store.lockMountPaths(sql, scope.projectId)
  const holder = await store.findFileAt(sql, chainOf(scope), path, key)
  if (holder !== undefined)
    throw new AppError('conflict', `mount_path: the file ${holder} is already mounted at ${path}; choose another path`)
}
