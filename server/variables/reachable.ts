import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { builtInsOf } from './built-ins.ts'
import { findFacts } from './facts-store.ts'
import { type Reachable, scopeOf } from './record.ts'
import { chainOf, nameOf, type Scope } from './scope.ts'
import { findReachable, lockVariable, type VariableRow } from './variable-store.ts'

/** Which of the two a caller speaks of: neither is found under the other's name. */
export type Sort = 'variable' | 'secret'

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
  if (sort === 'variable' && reachable.builtIns.some((builtIn) => builtIn.id === id))
    throw new AppError('invalid', 'a built-in variable cannot be edited or deleted')
  const row = reachable.rows.find((one) => one.id === id && one.is_secret === (sort === 'secret'))
  if (!row) throw new AppError('notFound', `this ${sort} does not exist`)
  const own = scopeOf(row)
  if (own !== scope.scope) {
    const here = nameOf(scope.scope, scope.scope === 'SERVICE' ? scope.kind : undefined)
    const message = `the ${sort} ${row.key} belongs to the ${nameOf(own)}, not to this ${here}; change it there`
    throw new AppError('invalid', message)
  }
  return { row, reachable }
}
