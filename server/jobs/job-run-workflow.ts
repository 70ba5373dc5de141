import { silent } from '../lib/attempt.ts'
import { messageOf } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import { CanceledError, type RunContext, type Step, type Workflow } from '../workflows/index.ts'
import { decideStart } from './decide.ts'
import { isActive, type JobRunRow, runOfTry } from './job-run.ts'
import { beginRun, endRun, findRun, findRuns, listActiveRuns, unfinishedRuns } from './job-run-store.ts'
import { cancelRun, endRunning, forgetRunsOf, type JobsOptions, type LoadedJob, runSettings } from './jobs.ts'
import { runToEnd } from './run-task.ts'
import { lockSchedule } from './schedule-store.ts'

export const jobRunWorkflow = 'job-run'

interface Input {
  readonly runId: string
  readonly [key: string]: string
}

/**
 * One run of a timetable: prepared shortly before its time, started on time unless other runs of
 * its job prevent it, and recorded when it ends.
 */
export function createJobRunWorkflow(options: JobsOptions): Workflow<Input> {
  return {
    name: jobRunWorkflow,
    run: (input, step, context) => runScheduled(options, input.runId, step, context),
    abandoned: (input, reason, sql) =>
      endRun(sql, input.runId, {
        status: reason === 'canceled' ? 'CANCELED' : 'ERROR',
        reason: reason === 'canceled' ? 'It was ended.' : `It could not continue (${reason}).`,
        now: options.clock.now(),
      }),
    unfinished: unfinishedRuns,
  }
}

async function runScheduled(options: JobsOptions, runId: string, step: Step, context: RunContext): Promise<void> {
  const row = await findRun(options.database, runId)
  if (!row || !isActive(row)) return
  const job = await options.load(row)
  if (!job) {
    const gone = { status: 'ERROR', reason: 'The version to run no longer exists.', now: options.clock.now() } as const
    await context.fenced((sql) => endRun(sql, runId, gone))
    return
  }
  options.collect(row.service_id, row.release_id, job.secrets)
  try {
    await runJob(options, { row, job, step, context })
  } catch (error) {
    if (!context.signal.aborted || !(context.signal.reason instanceof CanceledError)) throw error
    await step('STOP', ({ signal }) => stop({ ...options, engine: job.engine }, runId, signal), {
      evenIfCanceled: true,
      deadlineSeconds: 120,
    })
    throw context.signal.reason
  }
}

interface Scheduled {
  readonly row: JobRunRow
  readonly job: LoadedJob
  readonly step: Step
  readonly context: RunContext
}

async function runJob(options: JobsOptions, { row, job, step, context }: Scheduled): Promise<void> {
  const { clock } = options
  const run = {
    ...job,
    id: row.id,
    prefix: '',
    mayStart: async () => {
      // The records are written shortly before. If another run is active, they are written at the
      // exact time.
      await untilTime(options, row, earlyMs, context.signal)
      if (!(await isAlone(options, row))) await untilTime(options, row, 0, context.signal)
      const replaced = await step('BEGIN', () => begin(options, { row, job, step, context }))
      if (replaced === null) return false
      await untilEnded(options, replaced, context.signal)
      return true
    },
    untilTime: (signal: AbortSignal) => untilTime(options, row, 0, signal),
    // Cron jobs have no outputs.
    takeOutput: async () => undefined,
    output: silent,
  }
  const end = await runToEnd({ ...options, engine: job.engine }, run, { step, signal: context.signal })
  failpoint('job.ended')
  if (!end) return
  await step(
    'END',
    () =>
      context.fenced(async (sql) => {
        const reason = end.reason && [end.reason, ...end.lastLines].join('\n')
        await endRun(sql, row.id, { ...end, status: reason ? 'ERROR' : 'SUCCESS', reason, now: clock.now() })
        await forgetRunsOf(sql, row.service_id, job.advancedSettings)
      }),
    { evenIfCanceled: true },
  )
}

/** Limits the delay if the clock is set back meanwhile. */
const longestWaitMs = 15_000
const earlyMs = 1500

async function isAlone({ database }: JobsOptions, { id, service_id }: JobRunRow): Promise<boolean> {
  const active = await listActiveRuns(database, service_id)
  return active.every((one) => one.id === id || one.status !== 'RUNNING')
}

async function untilTime(
  { clock }: JobsOptions,
  { scheduled_at }: JobRunRow,
  beforeMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (!scheduled_at) return
  const endMs = clock.monotonic() + longestWaitMs
  for (;;) {
    const leftMs = Math.min(scheduled_at.getTime() - beforeMs - clock.now().getTime(), endMs - clock.monotonic())
    if (leftMs <= 0) return
    await clock.sleep(leftMs, signal)
  }
}

/**
 * Returns null if it must not run and its end is written. Otherwise returns the runs that it
 * replaces.
 */
const begin = (options: JobsOptions, { row, job, context }: Scheduled): Promise<string[] | null> =>
  context.fenced(async (sql) => {
    const now = options.clock.now()
    // If two runs begin at the same time, one waits here for the other.
    if (!(await lockSchedule(sql, row.service_id))) {
      await endRun(sql, row.id, { status: 'CANCELED', reason: 'Its job was stopped before its time.', now })
      return null
    }
    const others = (await listActiveRuns(sql, row.service_id)).filter(
      (one) => one.id !== row.id && one.event === 'CRON' && one.status === 'RUNNING',
    )
    const start = decideStart(runSettings(job.advancedSettings).policy, others)
    if (start.kind === 'skip') {
      await endRun(sql, row.id, { status: 'SKIPPED', reason: start.reason, now })
      await forgetRunsOf(sql, row.service_id, job.advancedSettings)
      return null
    }
    await beginRun(sql, row.id, now)
    for (const id of start.replaces) await cancelRun(sql, options, id, 'Another run took its place.')
    return [...start.replaces]
  })

/** Replaced runs get their grace time. */
async function untilEnded(
  { database, clock, workflows }: JobsOptions,
  replaced: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (replaced.length === 0) return
  workflows().nudge()
  while ((await findRuns(database, replaced)).some(isActive)) await clock.sleep(100, signal)
}

async function stop(
  options: JobsOptions & Pick<LoadedJob, 'engine'>,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await endRunning(options, ({ run }) => runOfTry(run) === runId, { signal, output: silent })
  } catch (error) {
    signal.throwIfAborted()
    // The reconciler finds and ends the rest of an ended run.
    options.log.warn({ reason: messageOf(error), runId }, 'a run could not be ended yet')
  }
}
