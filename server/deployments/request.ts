import type { Origin } from '@quayside/contract/enums.ts'
import { type Action, isAtRest, phases, refusal, type State, stateNames } from '@quayside/contract/states.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import type { Workflows } from '../workflows/index.ts'
import {
  findMergeable,
  insertRequest,
  lockEnvironment,
  nextNumber,
  type RequestRow,
  setQueuedStates,
} from './request-store.ts'
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

/**
 * Accepts a request: one transaction writes it, its workflow and the services' new states; after the commit it cannot be lost.
 * A waiting request of the same caller and action takes the new one in. Throws 409 when a state forbids the action.
 */
export async function acceptRequest(
  { database, clock, workflows }: RequestOptions,
  environment: Pick<EnvironmentRow, 'id' | 'name'>,
  action: Action,
  targets: readonly WantedTarget[],
  by: RequestedBy,
): Promise<AcceptedRequest> {
  const accepted = await inTransaction(database, async (sql) => {
    const locked = await lockEnvironment(sql, environment.id)
    if (!locked) throw new AppError('notFound', 'There is no such object.')
    if (locked.deleting && action !== 'DELETE') {
      throw new AppError('conflict', `Environment "${environment.name}" is being deleted.`)
    }
    const current = await withStates(sql, targets)
    for (const { service } of current) refuseByState(action, service)
    const { queued } = phases[action]
    const waiting = await findMergeable(sql, environment.id, by.id, action)
    const request = waiting ?? (await insertNew(sql))
    await insertTargets(sql, request.id, current, queued)
    const ids = current.map(({ service }) => service.id)
    await setQueuedStates(sql, ids, queued, passing)
    return request

    async function insertNew(tx: typeof sql): Promise<AcceptedRequest> {
      const id = newId()
      const now = clock.now()
      const execution_id = `${environment.id}-${await nextNumber(tx, environment.id)}`
      await workflows.submit(tx, { id, kind: deploymentWorkflow, key: environment.id, input: { requestId: id } })
      const row = { id, environment_id: environment.id, execution_id, action, origin: by.origin }
      await insertRequest(tx, { ...row, triggered_by: by.name, caller: by.id }, now)
      return { id, execution_id, created_at: now }
    }
  })
  failpoint('request.committed')
  workflows.nudge()
  return accepted
}

/** As they are now, under the environment's lock: the caller's may be older than another request. Throws 404 when one is gone. */
async function withStates(sql: Sql, targets: readonly WantedTarget[]): Promise<WantedTarget[]> {
  const states = await readServiceStates(
    sql,
    targets.map(({ service }) => service.id),
  )
  return targets.map(({ service, commit }) => {
    const state = states.get(service.id)
    if (!state) throw new AppError('notFound', 'There is no such object.')
    return { service: { ...service, state }, commit }
  })
}

function refuseByState(action: Action, service: WantedTarget['service']): void {
  const reason = refusal(action, service.state)
  if (reason) throw new AppError('conflict', `Service "${service.name}" is ${service.state}: ${reason}.`)
}
