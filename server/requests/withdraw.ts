import { phases } from '@quayside/contract/states.ts'
import { recordOutcome } from '../audit/index.ts'
import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { recordDeploymentEvent } from '../webhooks/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { outcomesOf } from './outcomes.ts'
import { type RequestRow, setRequestStatus } from './request-store.ts'
import { listTargets, updateTarget } from './target-store.ts'
import { waitingRequestsOf } from './withdraw-store.ts'

export interface WithdrawOptions {
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'requestCancel'>
}

/**
 * Cancels requests that wait for the data of copies that are being deleted. Requests with other
 * services continue without the copies. Must run in the transaction that deletes the rows.
 */
export async function cancelForCopies(sql: Sql, options: WithdrawOptions, services: readonly string[]): Promise<void> {
  for (const id of services) await withdraw(sql, options, id)
}

/**
 * Fails requests that wait for the data of copies that failed, with the reason. Must run in the
 * transaction that deletes the rows.
 */
export const failForCopies =
  (options: WithdrawOptions) =>
  async (sql: Sql, services: readonly string[], reason: string): Promise<void> => {
    for (const id of services) await withdraw(sql, options, id, `Its data could not be copied: ${reason}`)
  }

/** Ends the waiting requests for a service: failed with a reason, otherwise cancelled. */
async function withdraw(sql: Sql, options: WithdrawOptions, service: string, reason?: string): Promise<void> {
  const now = options.clock.now()
  for (const request of await waitingRequestsOf(sql, service)) {
    const state = reason === undefined ? 'CANCELED' : phases[request.action].failed
    const status = reason === undefined ? 'CANCELED' : 'ERROR'
    const target = { request_id: request.id, service_id: service }
    await updateTarget(sql, target, { state, status, reason: reason ?? null, finished_at: now })
    const targets = await listTargets(sql, [request.id])
    if (targets.every(({ finished_at }) => finished_at !== null)) {
      const isFailed = targets.some((one) => one.status === 'ERROR')
      await end(sql, options, request, isFailed ? 'ERROR' : 'CANCELED')
    }
  }
}

async function end(
  sql: Sql,
  { workflows, clock }: WithdrawOptions,
  { id, action }: RequestRow,
  status: 'ERROR' | 'CANCELED',
): Promise<void> {
  const now = clock.now()
  await workflows.requestCancel(sql, id)
  await setRequestStatus(sql, id, status, now)
  // The deletion itself records the cancellation of a request that never started.
  if (status === 'CANCELED') return
  await recordOutcome(sql, id, outcomesOf(action), now)
  if (action === 'DEPLOY') await recordDeploymentEvent(sql, 'DEPLOYMENT_FAILURE', id, now)
}
