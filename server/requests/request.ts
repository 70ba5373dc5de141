import type { Origin } from '@quayside/contract/enums.ts'
import { type Action, isAtRest, phases, refusal, type State, stateNames } from '@quayside/contract/states.ts'
import { afterCommit, type Database, type Fragment, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'
import { takeRoom } from '../limits/index.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import type { Workflows } from '../workflows/index.ts'
import {
  type Acceptance,
  holdWaiting,
  lockEnvironment,
  type RequestRow,
  readSituation,
  type Situation,
  writeRequest,
} from './request-store.ts'
import { placeRefusal } from './restriction.ts'
import type { WantedTarget } from './target-store.ts'

export const deploymentWorkflow = 'deployment'

/**
 * Returns the statement part that inserts the audit entry of an accepted request, if `accepted` has
 * its row. `change` describes the request.
 */
export type RecordRequest = (sql: Sql, accepted: Fragment, change: Json) => Fragment

/** The author of a request and where it came from. */
export interface RequestedBy {
  readonly id: string
  readonly name: string
  readonly origin: Origin
  /** The restore that makes the request. While it holds the service, others are rejected. */
  readonly restore?: string
  /** Records the request. Without it, the caller writes the audit entry in the same transaction. */
  readonly record?: RecordRequest
}

export type AcceptedRequest = Pick<RequestRow, 'id' | 'created_at'> & {
  /** Set if no other request waited: the execution id, and the states that the services entered. */
  readonly alone?: { readonly execution_id: string; readonly states: ReadonlyMap<string, State> }
}

export interface RequestOptions {
  readonly database: Database
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'submission' | 'nudge'>
}

const passing: readonly State[] = stateNames.filter((state) => !isAtRest(state))

/** A desired request. */
export interface Wish {
  readonly environment: Pick<EnvironmentRow, 'id' | 'name'>
  readonly action: Action
  readonly targets: readonly WantedTarget[]
  readonly by: RequestedBy
  /**
   * Whether the request is for all services of the environment. Services that are deleted in the
   * meantime are left out.
   */
  readonly isWhole?: boolean
}

/**
 * The tries of a request whose services change between the check and the write. Only the end of
 * other work can change them.
 */
const mostTries = 5

/**
 * Accepts a request: writes it with its workflow and the new states of the services in one
 * transaction. It cannot be lost afterwards. Throws 409 if a state forbids the action, and 404 if
 * the environment or a service is gone.
 */
export async function acceptRequest(options: RequestOptions, wish: Wish): Promise<AcceptedRequest> {
  const accepted = (await acceptAlone(options, wish)) ?? (await acceptUnderLock(options, wish))
  afterCommit(() => {
    failpoint('request.committed')
    options.workflows.nudge()
  })
  return accepted
}

/**
 * Accepts a request in one statement. This is the usual case: no request waits, every state allows
 * it, and no other request is accepted at the same time.
 */
async function acceptAlone(options: RequestOptions, wish: Wish): Promise<AcceptedRequest | undefined> {
  const request = { id: newId(), created_at: options.clock.now() }
  const written = await writeRequest(options.database, acceptance(options, wish, request, 'alone'))
  if (!written) return undefined
  const { queued } = phases[wish.action]
  const states = [...written.formerStates].map(([id, state]) => [id, isAtRest(state) ? queued : state] as const)
  const execution_id = `${wish.environment.id}-${written.number}`
  return { ...request, alone: { execution_id, states: new Map(states) } }
}

/**
 * Accepts a request under the lock of the environment. Throws the reason that forbids it, or merges
 * it into a waiting one.
 */
const acceptUnderLock = (options: RequestOptions, wish: Wish): Promise<AcceptedRequest> =>
  inTransaction(options.database, async (sql) => {
    await lockEnvironment(sql, wish.environment.id)
    for (let tries = 0; tries < mostTries; tries++) {
      const accepted = await tryUnderLock(options, sql, wish)
      if (accepted) return accepted
    }
    throw new AppError('unavailable', 'Other requests keep changing these services. Try again.')
  })

/** Tries once. Undefined if a service changed between the check and the write. */
async function tryUnderLock(options: RequestOptions, sql: Sql, wish: Wish): Promise<AcceptedRequest | undefined> {
  const { environment, action, by } = wish
  const services = wish.targets.map(({ service }) => service.id)
  const situation = await readSituation(sql, { environmentId: environment.id, services, caller: by.id, action })
  const left = situation && wish.isWhole ? withoutDeleted(wish, situation) : wish
  const { waiting } = checked(situation, left)
  // A forced event or action has its own run.
  const isForced = left.targets.some(({ forceEvent, stackAction }) => forceEvent ?? stackAction)
  const merges = !isForced && waiting !== undefined && (await holdWaiting(sql, waiting.id))
  // A deletion is requested once.
  if (!merges && action !== 'DELETE') await takeRoom(sql, 'waitingRequests', environment.id)
  const request = merges ? waiting : { id: newId(), created_at: options.clock.now() }
  const written = await writeRequest(sql, acceptance(options, left, request, merges ? 'merged' : 'last'))
  return written && request
}

/** Pure: returns the wish without deleted services. Throws 409 if none is left. */
function withoutDeleted(wish: Wish, { states }: Situation): Wish {
  const targets = wish.targets.filter(({ service }) => states[service.id] !== undefined)
  if (targets.length > 0) return { ...wish, targets }
  throw new AppError('conflict', `Environment "${wish.environment.name}" no longer has services.`)
}

function acceptance(
  { workflows }: RequestOptions,
  { environment, action, targets, by }: Wish,
  { id, created_at }: AcceptedRequest,
  place: Acceptance['place'],
): Acceptance {
  const { record } = by
  const countsFor = { environmentId: environment.id }
  const submitted = { id, kind: deploymentWorkflow, key: environment.id, input: { requestId: id }, countsFor }
  return {
    request: {
      id,
      created_at,
      environment_id: environment.id,
      action,
      origin: by.origin,
      triggered_by: by.name,
      caller: by.id,
    },
    place,
    targets: targets.map(({ service, commit, valuesCommit, forceEvent, stackAction, release, sameVersion }) => ({
      service_id: service.id,
      kind: service.kind,
      name: service.name,
      icon_uri: service.settings.icon_uri,
      wanted_commit: commit ?? null,
      wanted_values: valuesCommit ?? null,
      force_event: forceEvent ?? null,
      stack_action: stackAction ?? null,
      wanted_release: release ?? null,
      same_version: sameVersion ?? false,
    })),
    allowed: stateNames.filter((state) => refusal(action, state) === undefined),
    queued: phases[action].queued,
    passing,
    restore: by.restore ?? null,
    submission: (sql, accepted) => workflows.submission(sql, submitted, accepted),
    record: record && ((sql, accepted) => record(sql, accepted, { id, action, status: 'QUEUED' })),
  }
}

/** Pure: returns the situation. Throws if it forbids the request. */
function checked(situation: Situation | undefined, { environment, action, targets, by }: Wish): Situation {
  if (!situation) throw notFound('environment', environment.id)
  if (situation.deleting && action !== 'DELETE') {
    throw new AppError('conflict', `Environment "${environment.name}" is being deleted.`)
  }
  const refused = placeRefusal(action, situation.at)
  if (refused) throw new AppError(refused.code, refused.message)
  for (const { service } of targets) {
    const restore = situation.restoring[service.id]
    if (restore !== undefined && restore !== by.restore) {
      throw new AppError(
        'conflict',
        `Service "${service.name}" is being restored from a backup. Try again when the restore has ended.`,
      )
    }
    const state = situation.states[service.id]
    if (!state) throw notFound('service', service.id)
    const reason = refusal(action, state)
    if (reason) throw new AppError('conflict', `Service "${service.name}" is ${state}: ${reason}.`)
  }
  return situation
}
