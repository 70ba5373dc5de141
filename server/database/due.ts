import type { Reconciler } from '../lib/reconciler.ts'
import type { Database, Fragment, Sql } from './database.ts'

/**
 * A reconciler that has work only while a condition on the database is true. The conditions of all
 * of them are checked by one statement, so that an idle server sends few. `everyMs` is the longest
 * time between two runs, in case its condition cannot be checked.
 */
export interface DueReconciler extends Reconciler {
  /** Returns an SQL expression that is true while there is work. */
  readonly due: (sql: Sql) => Fragment
}

export interface DueWatchOptions {
  readonly database: Database
  /** Returns the current ones. Those without a condition are ignored. */
  readonly reconcilers: () => readonly Reconciler[]
  /** Called with the name of each reconciler that has work. */
  readonly remind: (name: string) => void
}

/** Checks twice a second which reconcilers have work, and reminds them. */
export function createDueWatch({ database, reconcilers, remind }: DueWatchOptions): Reconciler {
  return {
    name: 'due work',
    everyMs: 500,
    reconcile: async () => {
      for (const { name } of await listDue(database, reconcilers().filter(hasCondition))) remind(name)
    },
  }
}

const hasCondition = (reconciler: Reconciler): reconciler is DueReconciler => 'due' in reconciler

async function listDue(sql: Sql, reconcilers: readonly DueReconciler[]): Promise<readonly { readonly name: string }[]> {
  const [first, ...others] = reconcilers.map(({ name, due }) => sql`select ${name}::text as name where ${due(sql)}`)
  if (!first) return []
  return await sql<{ name: string }[]>`${others.reduce((all, one) => sql`${all} union all ${one}`, first)}`
}
