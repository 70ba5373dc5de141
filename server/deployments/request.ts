import type { Origin } from '@quayside/contract/enums.ts'
import { type Action, isAtRest, phases, refusal, type State, stateNames } from '@quayside/contract/states.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { findMergeable, insertRequest, lockEnvironment, nextNumber, type RequestRow } from './request-store.ts'
import { insertTargets, readServiceStates, type WantedTarget } from './target-store.ts'

export const deploymentWorkflow = 'deployment'

/** Who asked, from where. */
export interface RequestedBy {
  readonly id: string
  readonly name: string
  readonly origin: Origin
}

export type AcceptedRequest = Pick<RequestRow, 'id' | 'execution_id' | 'created_at'>

export interface RequestOptions {
  readonly database: Database
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
}

const passing: readonly State[] = stateNames.filter((state) => !isAtRest(state))

/** What is asked for. */
export interface Wish {
  readonly environment: Pick<EnvironmentRow, 'id' | 'name'>
  readonly action: Action
  readonly targets: readonly WantedTarget[]
  readonly by: RequestedBy
}

/**
 * Accepts a request: one transaction writes it, its workflow and the services' new states; after the commit it cannot be lost.
 * A waiting request of the same caller and action takes the new one in. Throws 409 when a state forbids the action. Gives the
 * request, and what `read` finds in the same transaction.
 */
export async function acceptRequest<T>(
  { database, clock, workflows }: RequestOptions,
  wish: Wish,
  read: (sql: Sql) => Promise<T>,
): Promise<readonly [AcceptedRequest, T]> {
  const { environment, action, by } = wish
  const accepted = await inTransaction(database, async (sql) => {
    const { targets, waiting, number } = await readUnderLock(sql, wish)
    for (const { service } of targets) refuseByState(action, service)
    const { queued } = phases[action]
    const execution_id = `${environment.id}-${number}`
    const request = waiting ?? { id: newId(), execution_id, created_at: clock.now() }
    // Sent together, and done one after the other.
    const [, , result] = await Promise.all([
      waiting ? undefined : insertNew(sql, request),
      insertTargets(sql, request.id, targets, { queued, passing }),
      read(sql),
    ])
    return [request, result] as const
  })
  failpoint('request.committed')
  workflows.nudge()
  return accepted

  function insertNew(sql: Sql, { id, execution_id, created_at }: AcceptedRequest): Promise<unknown> {
    const row = { id, environment_id: environment.id, execution_id, action, origin: by.origin }
    return Promise.all([
      workflows.submit(sql, { id, kind: deploymentWorkflow, key: environment.id, input: { requestId: id } }),
      insertRequest(sql, { ...row, triggered_by: by.name, caller: by.id }, created_at),
    ])
  }
}

/**
 * Locks the environment, and reads what a request depends on: services as they are now, for the caller's may be older than another
 * request, the request to merge into, and the next number. Throws 404 when something is gone.
 */
async function readUnderLock(sql: Sql, { environment, action, targets, by }: Wish) {
  const ids = targets.map(({ service }) => service.id)
  // Sent together: the connection does one after the other, so that the first holds the lock for the others.
  const [locked, states, waiting, number] = await Promise.all([
    lockEnvironment(sql, environment.id),
    readServiceStates(sql, ids),
    findMergeable(sql, environment.id, by.id, action),
    nextNumber(sql, environment.id),
  ])
  if (!locked) throw new AppError('notFound', 'There is no such object.')
  if (locked.deleting && action !== 'DELETE') {
    throw new AppError('conflict', `Environment "${environment.name}" is being deleted.`)
  }
  const current = targets.map(({ service, commit }) => {
    const state = states.get(service.id)
    if (!state) throw new AppError('notFound', 'There is no such object.')
    return { service: { ...service, state }, commit }
  })
  return { targets: current, waiting, number }
}

function refuseByState(action: Action, service: WantedTarget['service']): void {
  const reason = refusal(action, service.state)
  if (reason) throw new AppError('conflict', `Service "${service.name}" is ${service.state}: ${reason}.`)
}
