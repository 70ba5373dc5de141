import type { ServiceCanary } from '@quayside/contract/resources/canary.ts'
import type { Database, Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { type CanaryOutcomes, type CanaryRow, findRunningCanary, promoteCanary } from './canary-store.ts'

/** Returns the step of the canary deployment of a service. Null if it has none now. */
export async function readCanary(sql: Sql, serviceId: string): Promise<typeof ServiceCanary.static> {
  const row = await findRunningCanary(sql, serviceId)
  return { canary: row ? toReply(row) : null }
}

/** Ends the steps of a canary deployment within a second. Throws 409 if there is none. */
export async function promoteService(database: Database, serviceId: string): Promise<typeof ServiceCanary.static> {
  if (!(await promoteCanary(database, serviceId))) {
    throw new AppError('conflict', 'The service has no canary deployment in a step. GET the same path shows its step.')
  }
  return readCanary(database, serviceId)
}

function toReply(row: CanaryRow) {
  const sums = Object.values(row.counts)
  const sum = (name: keyof CanaryOutcomes): number => sums.reduce((total, one) => total + one[name], 0)
  return {
    deployment_request_id: row.request_id,
    steps: [...row.steps],
    step: row.step + 1,
    percent: row.percent,
    step_started_at: row.step_started_at,
    step_ends_at: new Date(row.step_started_at.getTime() + row.step_seconds * 1000),
    requests: sum('requests') - row.requests_before,
    failed: sum('failed') - row.failed_before,
    slow: sum('slow') - row.slow_before,
    max_error_percent: row.max_error_percent,
    max_latency_ms: row.max_latency_ms,
    max_slow_percent: row.max_slow_percent,
    is_promoted: row.is_promoted,
  }
}
