import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import { type Holds, mostHolds } from './holds.ts'
import type { Lease } from './lease.ts'
import { backOff, isOutage } from './outage.ts'
import type { Places } from './places.ts'
import { pause, persist, type StatementOptions, within } from './statement.ts'
import { createStep, storable } from './step.ts'
import { readEnded } from './step-store.ts'
import { CanceledError, LeaseLostError, type RunContext, type Workflow } from './workflow.ts'
import { type Claimed, type EndState, end, lock, release } from './workflow-store.ts'

/** A workflow that this process is running. */
export interface Run extends StatementOptions {
  readonly database: Database
  readonly lease: Lease
  readonly claimed: Claimed
  readonly workflow: Workflow
  /** How long aborted work may take to stop. */
  readonly graceMs: number
  /** How long a transaction of the run may be idle before the database ends it. */
  readonly idleMs: number
  readonly maxAttempts: number
  /** Counts how often workflows were lost because this process was busy itself. */
  readonly holds: Pick<Holds, 'count' | 'forget'>
  readonly places: Pick<Places, 'take' | 'takeInOrder' | 'leave'>
}

export type Ending =
  | { readonly state: 'done' }
  | { readonly state: Exclude<EndState, 'done'>; readonly reason: string }
  | { readonly state: 'interrupted'; readonly reason: string }
  | { readonly state: 'stopped' }
  | { readonly state: 'lost' }

/** Runs a claimed workflow and writes its end. Throws only for bugs of this room. */
export async function runWorkflow(run: Run): Promise<Ending> {
  const { claimed, lease } = run
  if (claimed.cancel_requested) lease.cancel()
  const hopeless = whyHopeless(run)
  const ending: Ending = hopeless ? { state: 'parked', reason: hopeless } : decideEnding(await runOnce(run), lease)
  try {
    await write(run, ending)
    return ending
  } catch (error) {
    if (error instanceof LeaseLostError) return { state: 'lost' }
    throw error
  }
}

function whyHopeless({ claimed, holds, maxAttempts }: Run): string | undefined {
  if (claimed.attempts > maxAttempts) return `gave up after ${maxAttempts} attempts`
  if (holds.count(claimed.id) < mostHolds) return undefined
  return 'gave up because a step kept the server busy for so long that it lost its lease, three times in a row'
}

async function runOnce(run: Run): Promise<{ thrown: unknown } | undefined> {
  const { claimed, database, lease } = run
  try {
    // Nothing ran it before the first claim, so there are no steps to read.
    const ended = claimed.fence === '1' ? new Map() : await persist(run, lease, () => readEnded(database, lease.id))
    await run.workflow.run(claimed.input, createStep(run, ended), createContext(run))
    return undefined
  } catch (error) {
    return { thrown: error }
  }
}

/**
 * Decides the meaning of a run's outcome. A loss or a stop takes precedence, because the outcome
 * may be its consequence.
 */
export function decideEnding(
  outcome: { thrown: unknown } | undefined,
  lease: { readonly lost: AbortSignal; readonly life: AbortSignal; readonly isCanceled: boolean },
): Ending {
  if (lease.lost.aborted) return { state: 'lost' }
  if (lease.life.aborted) return { state: 'stopped' }
  if (!outcome) return { state: 'done' }
  const { thrown } = outcome
  if (isCausedBy(thrown, LeaseLostError)) return { state: 'lost' }
  if (lease.isCanceled && isCausedBy(thrown, CanceledError)) return { state: 'canceled', reason: 'canceled' }
  if (isOutage(thrown)) return { state: 'interrupted', reason: messageOf(thrown) }
  return { state: 'failed', reason: `failed: ${storable(messageOf(thrown))}` }
}

function isCausedBy(error: unknown, kind: typeof LeaseLostError | typeof CanceledError): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof kind) return true
  return false
}

function createContext({ clock, database, lease, idleMs }: Run): RunContext {
  return {
    id: lease.id,
    signal: lease.work,
    fenced: async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
      lease.life.throwIfAborted()
      const transaction = inTransaction(database, async (sql) => {
        if (!(await lock(sql, lease, idleMs))) throw lease.lose('another process took it over')
        return work(sql)
      })
      return within(clock, idleMs * 4, transaction, lease.lost)
    },
  }
}

async function write(run: Run, ending: Ending): Promise<void> {
  const { claimed, database, lease } = run
  if (ending.state === 'lost') return
  if (ending.state === 'done') {
    if (!(await persist(run, lease, () => end(database, lease, 'done', null))))
      throw lease.lose('it has ended elsewhere')
    return
  }
  if (ending.state === 'stopped' || ending.state === 'interrupted') {
    const options =
      ending.state === 'stopped'
        ? { afterSeconds: 0, countsAsAttempt: false }
        : { afterSeconds: Math.min(2 ** (claimed.attempts - 1), 15), countsAsAttempt: true }
    return persist(run, lease, () => release(database, lease, options))
  }
  return abandon(run, ending)
}

/**
 * Ends the workflow in one transaction with the domain's own state. If that state cannot be
 * written, it ends without it, because a workflow must end. The reconciler in finisher.ts writes
 * the state later.
 */
async function abandon(run: Run, ending: { state: Exclude<EndState, 'done'>; reason: string }): Promise<void> {
  const { claimed, database, lease } = run
  for (let failures = 1; ; failures++) {
    try {
      return await persist(run, lease, () =>
        inTransaction(database, async (sql) => {
          await lock(sql, lease, run.idleMs)
          if (!(await end(sql, lease, ending.state, ending.reason))) throw lease.lose('it has ended elsewhere')
          if (failures <= 3) await run.workflow.abandoned(claimed.input, ending.reason, sql)
        }),
      )
    } catch (error) {
      if (lease.lost.aborted || failures > 3) throw error
      run.log.error(
        { err: error, workflow: lease.id, kind: claimed.kind, failures },
        'the end of a workflow could not be written',
      )
      await pause(run.clock, backOff(failures, 200, 2000), lease.lost)
    }
  }
}
