import type { Database } from './database.ts'
import type { DueReconciler } from './due.ts'

/** Runs the reconciler if its condition is true, as a server does. Returns whether it was. */
export async function runIfDue(sql: Database, { due, reconcile }: DueReconciler, signal: AbortSignal) {
  const [row] = await sql<{ is_due: boolean }[]>`select ${due(sql)} as is_due`
  if (row?.is_due) await reconcile(signal)
  return row?.is_due === true
}
