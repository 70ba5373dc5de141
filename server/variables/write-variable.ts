import { type Database, inTransaction, type Sql, violatedConstraint } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Vault } from '../vault/index.ts'
import { type EditedVariable, type NewVariable, planEdit, planNew } from './plan-change.ts'
import { findOwn, type Sort } from './reachable.ts'
import { mountPathOf, type Reachable } from './record.ts'
import { chainOf, ownerOf, type Scope } from './scope.ts'
import * as store from './variable-store.ts'

export interface VariableContext {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
}

const ownedBy = 'QUAYSIDE'

export async function create(
  context: VariableContext,
  scope: Scope,
  sort: Sort,
  input: NewVariable,
): Promise<store.VariableRow> {
  const { text, ...plan } = planNew(input)
  const id = newId()
  return change(context, scope, plan.key, async (sql) => {
    if (await store.isKeyTaken(sql, ownerOf(scope), plan.key)) throw keyTaken(plan.key)
    if (plan.mount_path !== null) await claimPath(sql, scope, plan.mount_path, plan.key)
    const row = await store.insertVariable(sql, ownerOf(scope), {
      ...plan,
      id,
      created_at: context.clock.now(),
      is_secret: sort === 'secret',
      value: null,
      sealed_value: null,
      ...(await textColumn(context, sql, scope, sort, id, text)),
      base_id: null,
      base_built_in_id: null,
      owned_by: ownedBy,
    })
    await store.bumpConfigVersions(sql, ownerOf(scope))
    return row
  })
}

/** Gives the record as `toRecord` makes it from the row after the edit. */
export async function edit<T>(
  context: VariableContext,
  scope: Scope,
  sort: Sort,
  id: string,
  input: EditedVariable,
  toRecord: (row: store.VariableRow, reachable: Reachable) => T,
): Promise<T> {
  return change(context, scope, input.key ?? '', async (sql) => {
    const { row, reachable } = await findOwn(sql, scope, sort, id)
    const baseKey = [...reachable.rows, ...reachable.builtIns].find(
      (one) => one.id === (row.base_id ?? row.base_built_in_id),
    )?.key
    const plan = planEdit(row, { baseKey, mountPath: mountPathOf(row, reachable) }, input)
    const { key = row.key, mount_path } = plan.changes
    if (key !== row.key && (await store.isKeyTaken(sql, ownerOf(scope), key))) throw keyTaken(key)
    if (typeof mount_path === 'string') await claimPath(sql, scope, mount_path, key)
    const columns = plan.text === undefined ? {} : await textColumn(context, sql, scope, sort, id, plan.text)
    const changes = { ...plan.changes, ...columns }
    if (Object.keys(changes).length === 0) return toRecord(row, reachable)
    const updated_at = context.clock.now()
    await store.updateVariable(sql, id, updated_at, changes)
    if (key !== row.key) await store.renameOverrides(sql, id, updated_at, key)
    if (plan.isEffective) await store.bumpConfigVersions(sql, ownerOf(scope))
    return toRecord({ ...row, ...changes, updated_at }, reachable)
  })
}

/** Takes the variable's aliases and overrides with it. */
export async function remove(context: VariableContext, scope: Scope, sort: Sort, id: string): Promise<void> {
  await change(context, scope, '', async (sql) => {
    await findOwn(sql, scope, sort, id)
    await store.deleteVariable(sql, id)
    await store.bumpConfigVersions(sql, ownerOf(scope))
  })
}

/** The value as the column that it goes to. */
async function textColumn(context: VariableContext, sql: Sql, scope: Scope, sort: Sort, id: string, text: string) {
  if (sort === 'variable') return { value: text }
  const cell = { table: 'variable', row: id, column: 'sealed_value' }
  return { sealed_value: await context.vault.seal(sql, scope.organizationId, cell, text) }
}

async function claimPath(sql: Sql, scope: Scope, path: string, key: string): Promise<void> {
  await store.lockMountPaths(sql, scope.projectId)
  const holder = await store.findFileAt(sql, chainOf(scope), path, key)
  if (holder !== undefined)
    throw new AppError('conflict', `mount_path: the file ${holder} is mounted at ${path} already; choose another path`)
}

/** A transaction whose unique and foreign keys speak of variables. */
async function change<T>(
  context: VariableContext,
  scope: Scope,
  key: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const locked = async (sql: Sql): Promise<T> => {
    await store.lockServices(sql, ownerOf(scope))
    return work(sql)
  }
  try {
    return await inTransaction(context.database, locked, { clock: context.clock })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint?.endsWith('_key')) throw keyTaken(key, error)
    if (constraint?.endsWith('_fkey'))
      throw new AppError('notFound', 'the owner of the variable does not exist any more', { cause: error })
    throw error
  }
}

const keyTaken = (key: string, cause?: unknown): AppError =>
  new AppError(
    'conflict',
    `key: there is a variable or secret named ${key} at this scope already; edit that one or choose another name`,
    { cause },
  )
