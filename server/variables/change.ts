import { type Database, inTransaction, type Sql, violatedConstraint } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Vault } from '../vault/index.ts'
import { type Change, type Near, type Seer, servicesThatSee } from './impact.ts'
import { ownerOf, type Scope } from './scope.ts'
import * as store from './variable-store.ts'

export interface VariableContext {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
}

/** The context of a change: its transaction, and a way to mark services as out of date. */
export interface Changing {
  readonly sql: Sql
  /** Must be called while the previous variables still exist. */
  readonly outdate: (changes: readonly Change[]) => Promise<void>
}

/**
 * Runs a transaction that locks the services below the scope, and turns violations of unique and
 * foreign keys into messages about variables. `key` is the key that may already exist.
 */
export async function change<T>(
  context: Pick<VariableContext, 'database' | 'clock'>,
  scope: Scope,
  key: string,
  work: (changing: Changing) => Promise<T>,
): Promise<T> {
  const locked = async (sql: Sql): Promise<T> => {
    const services = await store.lockServices(sql, ownerOf(scope))
    return work({ sql, outdate: (changes) => outdate(sql, scope, services, changes) })
  }
  try {
    return await inTransaction(context.database, locked, { clock: context.clock })
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint?.endsWith('_key')) throw keyTaken(key, error)
    if (constraint?.endsWith('_fkey'))
      throw new AppError('notFound', 'the owner of the variable no longer exists', { cause: error })
    throw error
  }
}

export const keyTaken = (key: string, cause?: unknown): AppError =>
  new AppError(
    'conflict',
    `key: a variable or secret named ${key} already exists at this scope; edit it or choose another name`,
    { cause },
  )

async function outdate(sql: Sql, scope: Scope, services: readonly Seer[], changes: readonly Change[]): Promise<void> {
  if (changes.length === 0 || services.length === 0) return
  const ids = changes.map(({ id }) => id)
  const keys = changes.flatMap((one) => one.keys)
  // Services are the narrowest scope.
  const near = scope.scope === 'SERVICE' ? [] : await store.findNear(sql, scope.projectId, ids, keys)
  await store.bumpConfigVersions(sql, seenByAny(changes, services, near))
}

function seenByAny(changes: readonly Change[], services: readonly Seer[], near: readonly Near[]): string[] {
  const byKey = Map.groupBy(near, ({ key }) => key)
  const byBase = Map.groupBy(near, ({ base_id }) => base_id)
  const found = new Set<string>()
  for (const one of changes) {
    if (found.size === services.length) break
    const standing = [...(byBase.get(one.id) ?? [])]
    for (const { id } of standing) standing.push(...(byBase.get(id) ?? []))
    const close = new Set([...standing, ...one.keys.flatMap((key) => byKey.get(key) ?? [])])
    for (const id of servicesThatSee(one, services, [...close])) found.add(id)
  }
  return [...found]
}
