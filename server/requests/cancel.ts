import { afterCommit, type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { writeState } from '../services/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { findRequest, lockActiveRequests, lockEnvironment, type RequestRow, setRequestStatus } from './request-store.ts'
import { cancelTarget, leaveQueue, listTargets } from './target-store.ts'

export interface CancelOptions {
  readonly database: Database
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'requestCancel' | 'nudge'>
}

/**
 * Cancels the running request, or every waiting one if none runs. Waiting services are CANCELED at
 * once. Running ones are CANCELING until their previous release is restored. Throws 409 if no
 * request is active.
 */
export async function cancelDeployment(options: CancelOptions, environmentId: string): Promise<void> {
  const { database, clock, workflows } = options
  await inTransaction(database, async (sql) => {
    await lockEnvironment(sql, environmentId)
    const active = await lockActiveRequests(sql, environmentId)
    if (active.length === 0) throw new AppError('conflict', 'Nothing is being deployed in this environment.')
    const running = active.filter((request) => request.status !== 'QUEUED')
    for (const request of running.length > 0 ? running : active) await cancelOne(sql, request, options, clock.now())
  })
  afterCommit(() => workflows.nudge())
}

/** Cancels one request, running or waiting. Throws 409 if it has ended. */
export async function cancelRequest(options: CancelOptions, { id, environment_id }: RequestRow): Promise<void> {
  const { database, clock, workflows } = options
  await inTransaction(database, async (sql) => {
    await lockEnvironment(sql, environment_id)
    const [active] = await lockActiveRequests(sql, environment_id, id)
    if (active) return cancelOne(sql, active, options, clock.now())
    const ended = await findRequest(sql, id)
    if (!ended) throw notFound('deployment', id)
    throw new AppError('conflict', `The deployment request has ended: it is ${ended.status}.`)
  })
  afterCommit(() => workflows.nudge())
}

async function cancelOne(sql: Sql, request: RequestRow, { workflows }: CancelOptions, now: Date): Promise<void> {
  const outcome = await workflows.requestCancel(sql, request.id)
  const canceled = outcome === 'canceled'
  await setRequestStatus(sql, request.id, canceled ? 'CANCELED' : 'CANCELING', now)
  for (const target of await listTargets(sql, [request.id])) {
    if (target.finished_at !== null) continue
    const state = canceled ? 'CANCELED' : 'CANCELING'
    if (!(await cancelTarget(sql, target, state, now))) continue
    await (canceled
      ? leaveQueue(sql, target)
      : writeState(sql, { service: target.service_id, event: 'being cancelled', to: state }))
  }
}
