import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { builtInsOf } from './built-ins.ts'
import { findFacts } from './facts-store.ts'
import type { Base } from './plan-standing.ts'
import { type Reachable, scopeOf } from './record.ts'
import { chainOf, nameOf, type Scope } from './scope.ts'
import { findReachable, lockVariable, type VariableRow } from './variable-store.ts'

/** Which of the two a caller speaks of: neither is found under the other's name. `any` is either. */
export type Sort = 'variable' | 'secret' | 'any'

const isOf = (sort: Sort, isSecret: boolean): boolean => sort === 'any' || (sort === 'secret') === isSecret
const wordOf = (sort: Sort): string => (sort === 'any' ? 'variable' : sort)

/** Everything that is seen from the scope. Throws AppError `notFound` where the scope itself is gone. */
export async function findAll(sql: Sql, scope: Scope): Promise<Reachable> {
  const facts = await findFacts(sql, chainOf(scope))
  if (!facts) throw new AppError('notFound', `the ${nameOf(scope.scope)} does not exist any more`)
  return { scope, rows: await findReachable(sql, chainOf(scope)), builtIns: builtInsOf(facts) }
}

/** The row, locked, when it is the scope's own; else AppError `notFound`, or `invalid` where it is reachable but not changed here. */
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
  if (!row) throw absent(sort)
  const own = scopeOf(row)
  if (own !== scope.scope) {
    const here = nameOf(scope.scope, scope.scope === 'SERVICE' ? scope.kind : undefined)
    const message = `the ${wordOf(sort)} ${row.key} belongs to the ${nameOf(own)}, not to this ${here}; change it there`
    throw new AppError('invalid', message)
  }
  return { row, reachable }
}

/** What an alias or override is to stand on, locked, when it is reachable from the scope; else AppError `notFound`. */
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
  if (!builtIn) throw absent(sort)
  return { base: { builtIn }, reachable }
}

const absent = (sort: Sort): AppError => new AppError('notFound', `this ${wordOf(sort)} does not exist`)
