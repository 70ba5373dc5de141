import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { builtInsOf } from './built-ins.ts'
import { findFacts } from './facts-store.ts'
import type { Base } from './plan-standing.ts'
import { type Reachable, scopeOf } from './record.ts'
import { chainOf, nameOf, type Scope } from './scope.ts'
import { findReachable, lockVariable, type VariableRow } from './variable-store.ts'

/**
 * Whether a request means a variable or a secret. A name of the other sort is not found. `any`
 * finds both.
 */
export type Sort = 'variable' | 'secret' | 'any'

const isOf = (sort: Sort, isSecret: boolean): boolean => sort === 'any' || (sort === 'secret') === isSecret
const wordOf = (sort: Sort): string => (sort === 'any' ? 'variable' : sort)

/**
 * Returns all variables that the scope sees. Throws AppError `notFound` if the scope itself no
 * longer exists.
 */
export async function findAll(sql: Sql, scope: Scope): Promise<Reachable> {
  const facts = await findFacts(sql, chainOf(scope))
  if (!facts) throw notFound(nameOf(scope.scope))
  return { scope, rows: await findReachable(sql, chainOf(scope)), builtIns: builtInsOf(facts) }
}

/**
 * Locks and returns the scope's own row. Throws AppError `notFound`, or `invalid` if it is
 * reachable but belongs to another scope.
 */
export async function findOwn(
  sql: Sql,
  scope: Scope,
  sort: Sort,
  id: string,
): Promise<{ row: VariableRow; reachable: Reachable }> {
  await lockVariable(sql, chainOf(scope), id)
  const reachable = await findAll(sql, scope)
  if (reachable.builtIns.some((builtIn) => builtIn.id === id && isOf(sort, builtIn.isSecret)))
    throw new AppError('invalid', 'a built-in variable cannot be edited or deleted')
  const row = reachable.rows.find((one) => one.id === id && isOf(sort, one.is_secret))
  if (!row) throw absent(sort, id)
  const own = scopeOf(row)
  if (own !== scope.scope) {
    const here = nameOf(scope.scope, scope.scope === 'SERVICE' ? scope.kind : undefined)
    const message = `the ${wordOf(sort)} ${row.key} belongs to the ${nameOf(own)}, not to this ${here}; change it there`
    throw new AppError('invalid', message)
  }
  return { row, reachable }
}

/**
 * Locks and returns the base of a new alias or override. Throws AppError `notFound` if the scope
 * cannot reach it.
 */
export async function findBase(
  sql: Sql,
  scope: Scope,
  sort: Sort,
  id: string,
): Promise<{ base: Base; reachable: Reachable }> {
  await lockVariable(sql, chainOf(scope), id)
  const reachable = await findAll(sql, scope)
  const row = reachable.rows.find((one) => one.id === id && isOf(sort, one.is_secret))
  if (row) return { base: { row }, reachable }
  const builtIn = reachable.builtIns.find((one) => one.id === id && isOf(sort, one.isSecret))
  if (!builtIn) throw absent(sort, id)
  return { base: { builtIn }, reachable }
}

const absent = (sort: Sort, id: string): AppError => notFound(wordOf(sort), id)
