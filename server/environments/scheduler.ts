import { type Database, unitOfWork } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Logger } from '../lib/log.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { createSlots } from '../lib/slots.ts'
import type { Reconciler } from '../workflows/index.ts'
import { type DueSchedule, listDueSchedules, lockSchedule, type ScheduledRow, writeTurn } from './schedule-store.ts'
import { turnAt, wrongMs } from './turn.ts'

/** What a rule asks of its environment. */
export interface TurnOrder {
  readonly environment: {
    readonly id: string
    readonly name: string
    readonly organization_id: string
    readonly project_id: string
  }
  readonly ruleId: string
  /** What others asked of a service after this moment holds. */
  readonly since: Date
}

export interface SchedulerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /**
   * Has what runs stopped; gives the services that are to be started again. In the unit of work of
   * the caller.
   */
  readonly stop: (order: TurnOrder) => Promise<readonly string[]>
  /** Has those of these services started that do not run. In the unit of work of the caller. */
  readonly start: (order: TurnOrder, services: readonly string[]) => Promise<void>
}

/**
 * Stops environments outside the hours of their deployment rules and starts again what they
 * stopped. The request and the note that this change of sides is done are one transaction under a
 * lock of the rule: whatever is killed, and however many servers look, it is asked for once.
 *
 * Environments are followed side by side, a few of each organization. A turn does not wait for slow
 * ones, which continue while the next turns follow others.
 */
export function createScheduler(options: SchedulerOptions): Reconciler {
  const { database, clock } = options
  const slots = createSlots(atOnce, { perOwner: atOnceOfOwner })
  const inProgress = new Set<string>()
  const followInTurn = (due: DueSchedule, signal: AbortSignal): Promise<void> => {
    inProgress.add(due.environment_id)
    const work = slots.run(signal, () => follow(options, due), due.organization_id)
    return work.finally(() => inProgress.delete(due.environment_id))
  }
  return {
    name: 'schedules',
    everyMs: 1000,
    async reconcile(signal) {
      const now = clock.now()
      const all = await listDueSchedules(database, { now, wrong: new Date(now.getTime() + wrongMs) })
      const due = all.filter(({ environment_id }) => !inProgress.has(environment_id))
      if (due.length > 0) await atMost(options, Promise.all(due.map((one) => followInTurn(one, signal))), signal)
    },
  }
}

/** Environments followed at the same time, and those of one organization. */
const [atOnce, atOnceOfOwner] = [4, 2]
/** Time after which a turn no longer waits for its environments. */
const turnMs = 2_000

/**
 * Waits for the work, and no longer than a turn. Later failures are logged, and the next turn tries
 * again.
 */
async function atMost({ clock, log }: SchedulerOptions, work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const sleep = clock.sleep(turnMs, over.signal).then(
    () => true,
    () => false,
  )
  try {
    if (!(await Promise.race([work.then(() => false), sleep]))) return
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'a deployment rule failed and is tried again')
    })
  } finally {
    over.abort(nobodyWaits)
  }
}

/**
 * Follows the rule of one environment. A turn that is refused for good is left out, with the reason
 * in the log.
 */
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
      'a deployment rule was refused what it asks; it goes on at the next edge',
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

/** Gives the services that the rule has stopped now. */
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
