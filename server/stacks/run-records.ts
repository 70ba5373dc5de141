import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { PlanSummary } from './plan-summary.ts'
import { findRunWithPlan, listRuns, type RunRecord } from './run-record-store.ts'

/** Lists the runs of a stack, newest first. */
export const stackRuns = async (sql: Sql, serviceId: string): Promise<RunRecord[]> =>
  (await listRuns(sql, serviceId)).map(toRecord)

/**
 * Returns the plan of a run. Throws AppError `notFound` if the stack has no such run, or if the run
 * made no plan.
 */
export async function stackPlan(sql: Sql, of: { readonly serviceId: string; readonly runId: string }) {
  const row = await findRunWithPlan(sql, of)
  if (!row) throw notFound('run', of.runId)
  if (row.plan) return { run: toRecord(row), ...row.plan }
  throw new AppError('notFound', `Run ${of.runId} has no plan: ${row.reason ?? 'it has not made one yet'}.`)
}

/** Returns a run. Throws AppError `notFound` if the stack has no such run. */
export async function findRun(sql: Sql, of: { readonly serviceId: string; readonly runId: string }) {
  const row = await findRunWithPlan(sql, of)
  if (!row) throw notFound('run', of.runId)
  return toRecord(row)
}

/** Returns the fields of the API only. */
export const toRecord = ({
  id,
  created_at,
  finished_at,
  action,
  status,
  reason,
  execution_id,
  counts,
  drifted,
}: RunRecord & { readonly plan?: PlanSummary | null }): RunRecord => ({
  id,
  created_at,
  finished_at,
  action,
  status,
  reason,
  execution_id,
  counts,
  drifted,
})
