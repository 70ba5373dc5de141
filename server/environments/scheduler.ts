import { type Database, type DueReconciler, unitOfWork } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Logger } from '../lib/log.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { createSlots } from '../lib/slots.ts'
import {
  type DueSchedule,
  isScheduleDue,
  listDueSchedules,
  lockSchedule,
  type ScheduledRow,
  writeTurn,
} from './schedule-store.ts'
import { turnAt, wrongMs } from './turn.ts'

/** An order from a rule to stop or start services of its environment. */
export interface TurnOrder {
  readonly environment: {
    readonly id: string
    readonly name: string
    readonly organization_id: string
    readonly project_id: string
  }
  readonly ruleId: string
  /** Requests by others after this moment win over the rule. */
  readonly since: Date
}

export interface SchedulerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /**
   * Requests a stop of running services in the caller's unit of work. Returns the services to start
   * again later.
   */
  readonly stop: (order: TurnOrder) => Promise<readonly string[]>
  /** Requests a start of those services that do not run, in the caller's unit of work. */
  readonly start: (order: TurnOrder, services: readonly string[]) => Promise<void>
}

/**
 * Stops environments outside the hours of their deployment rules and starts what it stopped when
 * the hours begin. One transaction writes the request and the progress, under a lock on the rule.
 * So each change is requested once, even if servers are killed or several of them check.
 *
 * Environments are followed in parallel, a few per organization. A turn does not wait for slow
 * environments; they continue while the next turns follow others.
 */
export function createScheduler(options: SchedulerOptions): DueReconciler {
  const { database, clock } = options
  const slots = createSlots(atOnce, { perOwner: atOnceOfOwner })
  const inProgress = new Set<string>()
  const edgeLimits = () => {
    const now = clock.now()
    return { now, wrong: new Date(now.getTime() + wrongMs) }
  }
  const followInTurn = (due: DueSchedule, signal: AbortSignal): Promise<void> => {
    inProgress.add(due.environment_id)
    const work = slots.run(signal, () => follow(options, due), due.organization_id)
    return work.finally(() => inProgress.delete(due.environment_id))
  }
  return {
    name: 'schedules',
    everyMs: 60_000,
    due: (sql) => isScheduleDue(sql, edgeLimits()),
    async reconcile(signal) {
      const all = await listDueSchedules(database, edgeLimits())
      const due = all.filter(({ environment_id }) => !inProgress.has(environment_id))
      if (due.length > 0) await atMost(options, Promise.all(due.map((one) => followInTurn(one, signal))), signal)
    },
  }
}

/** The number of environments followed at the same time, in total and per organization. */
const [atOnce, atOnceOfOwner] = [4, 2]
/** The time after which a turn stops waiting for its environments. */
const turnMs = 2_000

/** Waits for the work for at most one turn. Logs later failures; the next turn tries again. */
async function atMost({ clock, log }: SchedulerOptions, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const sleep = clock.sleep(turnMs, over.signal).then(
    () => true,
    () => false,
  )
  try {
    if (!(await Promise.race([work.then(() => false), sleep]))) return
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'a deployment rule failed and is retried')
    })
  } finally {
    over.abort(nobodyWaits)
  }
}

/** Follows the rule of one environment. Skips a change that is rejected, and logs the reason. */
async function follow(options: SchedulerOptions, due: DueSchedule): Promise<void> {
  const { database, clock, log } = options
  const environmentId = due.environment_id
  const unit = { clock, owner: due.organization_id }
  try {
    await unitOfWork(database, () => takeTurn(options, environmentId, true), unit)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code !== 'conflict' && error.code !== 'invalid') {
      return log.warn({ environmentId, reason: error.message }, 'a deployment rule could not act yet')
    }
    await unitOfWork(database, () => takeTurn(options, environmentId, false), unit)
    log.warn(
      { environmentId, reason: error.message },
      'the request of a deployment rule was rejected; the rule continues at its next edge',
    )
  }
}

async function takeTurn(options: SchedulerOptions, environmentId: string, acts: boolean): Promise<void> {
  const { database, clock, log } = options
  const rule = await lockSchedule(database, environmentId)
  if (!rule) return
  const turn = turnAt(rule, rule.last, clock.now())
  const stopped = turn.isDue && acts ? await act(options, rule, turn.edge, turn.is_within) : (rule.last?.stopped ?? [])
  failpoint('schedule.asked')
  await writeTurn(database, environmentId, turn, stopped)
  if (!turn.isDue) return
  log.info({ environmentId, edge: turn.edge, isWithin: turn.is_within, stopped }, 'a deployment rule acted')
}

/** Acts on the rule and returns the services that it has stopped. */
async function act(
  options: SchedulerOptions,
  rule: ScheduledRow,
  since: Date,
  isWithin: boolean,
): Promise<readonly string[]> {
  const { environment_id, environment_name, organization_id, project_id } = rule
  const environment = { id: environment_id, name: environment_name, organization_id, project_id }
  const order = { environment, ruleId: rule.id, since }
  const stopped = rule.last?.stopped ?? []
  if (!isWithin) return [...new Set([...stopped, ...(await options.stop(order))])]
  if (stopped.length > 0) await options.start(order, stopped)
  return []
}
