import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Database, Sql } from '../database/index.ts'
import type { Release, Task, TaskOutcome, TaskRunner } from '../engines/index.ts'
import type { LineSink } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { setServiceOutputs } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { type ConcurrencyPolicy, decideNext } from './decide.ts'
import { type JobRunRow, runOfTry } from './job-run.ts'
import { endRun, forgetRuns, listActiveRuns, noteReason } from './job-run-store.ts'
import { parseOutputs, wrong } from './outputs.ts'
import { deleteSchedule, lockSchedule, saveSchedule } from './schedule-store.ts'
import type { Timetable } from './timetable.ts'

export interface JobsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Vault
  readonly workflows: () => Pick<Workflows, 'submit' | 'requestCancel' | 'nudge'>
  /**
   * Returns the version for a run of the timetable, or undefined if the job or version no longer
   * exists.
   */
  readonly load: (run: JobRunRow) => Promise<LoadedJob | undefined>
  /** Starts collecting the lines of a service, with these texts masked. */
  readonly collect: (serviceId: string, releaseId: string, secrets: readonly Secret[]) => void
  readonly isCollected: (serviceId: string) => boolean
  /** Of these ids, returns the runs that are not of jobs and are still needed. */
  readonly heldRuns: (sql: Sql, ids: readonly string[], after: Date) => Promise<ReadonlySet<string>>
}

/** A version of a job, ready to run. */
export interface LoadedJob {
  /** The engine of its cluster. */
  readonly engine: TaskRunner
  readonly release: Release<Task>
  readonly retries: number
  readonly secrets: readonly Secret[]
  /** All advanced settings, including defaults. */
  readonly advancedSettings: SettingValues
  readonly haveImage: (signal: AbortSignal) => Promise<void>
}

/** How scheduled runs of a job interact, and how many of them are kept. */
export function runSettings(settings: SettingValues): {
  readonly policy: ConcurrencyPolicy
  readonly keep: { readonly well: number; readonly badly: number }
} {
  const policy = settings['cronjob.concurrency_policy']
  return {
    policy: policy === 'Allow' || policy === 'Replace' ? policy : 'Forbidden',
    keep: {
      well: Number(settings['cronjob.success_jobs_history_limit']),
      badly: Number(settings['cronjob.failed_jobs_history_limit']),
    },
  }
}

/** Starts the timetable of a cron job with this version, in the caller's transaction. */
export async function followTimetable(
  sql: Sql,
  { serviceId, releaseId, now }: { readonly serviceId: string; readonly releaseId: string; readonly now: Date },
  { scheduled_at, timezone }: Timetable,
): Promise<void> {
  const timetable = { scheduled_at, timezone }
  const former = await lockSchedule(sql, serviceId)
  const next_at = decideNext(timetable, former, now)
  await saveSchedule(sql, { service_id: serviceId, release_id: releaseId, ...timetable, next_at })
}

/** Stops the timetable of the service and ends its runs, in the caller's transaction. */
export async function endTimetable(
  sql: Sql,
  { clock, workflows }: Pick<JobsOptions, 'clock' | 'workflows'>,
  serviceId: string,
): Promise<void> {
  await deleteSchedule(sql, serviceId)
  for (const run of await listActiveRuns(sql, serviceId)) {
    if (run.trigger === 'CRON') await cancelRun(sql, { clock, workflows }, run.id, 'Its job was stopped.')
  }
}

/**
 * Ends a run of a timetable in the caller's transaction. If a workflow runs it, it ends when the
 * workflow notices.
 */
export async function cancelRun(
  sql: Sql,
  { clock, workflows }: Pick<JobsOptions, 'clock' | 'workflows'>,
  id: string,
  reason: string,
): Promise<void> {
  const outcome = await workflows().requestCancel(sql, id)
  if (outcome === 'canceled') await endRun(sql, id, { status: 'CANCELED', reason, now: clock.now() })
  else await noteReason(sql, id, reason)
}

/**
 * Turns the output file into variables of the job's environment. Returns a message if the file is
 * invalid.
 */
export async function takeOutputs(
  { vault, clock }: Pick<JobsOptions, 'vault' | 'clock'>,
  fenced: (work: (sql: Sql) => Promise<void>) => Promise<void>,
  service: { readonly serviceId: string; readonly environmentId: string; readonly organizationId: string },
  {
    outcome,
    output,
    collected,
  }: {
    readonly outcome: TaskOutcome
    readonly output: LineSink & { hide(secrets: readonly Secret[]): void }
    readonly collected: (secrets: readonly Secret[]) => void
  },
): Promise<string | undefined> {
  try {
    if (outcome.outputProblem) throw wrong(`cannot be read: ${outcome.outputProblem}`)
    if (outcome.output === undefined) return undefined
    const outputs = parseOutputs(outcome.output)
    const secrets = outputs.filter(({ isSecret }) => isSecret).map(({ value }) => new Secret(value))
    output.hide(secrets)
    collected(secrets)
    await fenced((sql) => setServiceOutputs(sql, { vault, clock }, service, outputs))
    const names = outputs.map(({ key, isSecret }) => (isSecret ? `${key} (secret)` : key)).join(', ')
    output.line(
      outputs.length > 0 ? `Its outputs are variables of the environment now: ${names}.` : 'It has no outputs.',
    )
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid') return error.message
    throw error
  }
}

/** Ends the running tries. Ended ones stay until their lines are collected. */
export async function endRunning(
  { engine }: { readonly engine: TaskRunner },
  isLeaving: (task: { readonly run: string; readonly service: string }) => boolean,
  attempt: { readonly signal: AbortSignal; readonly output: LineSink },
): Promise<void> {
  const tasks = (await engine.listTasks(attempt.signal)).filter((task) => task.running && isLeaving(task))
  await Promise.all(tasks.map(({ run }) => engine.endTask(run, attempt)))
}

/**
 * Ends a run that must not continue. The run fails with the reason and is not retried. May be
 * called again.
 */
export async function failRun(
  { database, engine }: Pick<JobsOptions, 'database'> & { readonly engine: TaskRunner },
  { id, reason }: { readonly id: string; readonly reason: string },
  attempt: { readonly signal: AbortSignal; readonly output: LineSink },
): Promise<void> {
  await noteReason(database, id, reason)
  await endRunning({ engine }, ({ run }) => runOfTry(run) === id, attempt)
}

/** In the caller's transaction: forgets the runs that its settings keep no longer. */
export const forgetRunsOf = (sql: Sql, serviceId: string, settings: SettingValues): Promise<void> =>
  forgetRuns(sql, serviceId, runSettings(settings).keep)
