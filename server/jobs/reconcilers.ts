import { type DueReconciler, inTransaction } from '../database/index.ts'
import { type NamedEngine, reconcilerName, type TaskRunner } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { collectRun } from './collect-run.ts'
import { decideClaim } from './decide.ts'
import { isActive, runOfTry } from './job-run.ts'
import { findRuns, forgetFailedRuns, forgetOldRuns, insertRun } from './job-run-store.ts'
import { jobRunWorkflow } from './job-run-workflow.ts'
import type { JobsOptions } from './jobs.ts'
import { isDue, lockDue, setNext } from './schedule-store.ts'

/**
 * Milliseconds before its time at which a run is recorded and prepared, so that it starts on time.
 */
const aheadMs = 10_000

const preparedUpTo = (now: Date): Date => new Date(now.getTime() + aheadMs)

/** Records the due runs, each once, however many servers look. */
export const createTimetables = (options: JobsOptions): DueReconciler => ({
  name: 'timetables',
  everyMs: 60_000,
  due: (sql) => isDue(sql, preparedUpTo(options.clock.now())),
  reconcile: async () => {
    const claimed = await inTransaction(options.database, async (sql) => {
      let count = 0
      const now = options.clock.now()
      for (const due of await lockDue(sql, preparedUpTo(now))) {
        const { at, next } = decideClaim(due, due.next_at, now)
        const id = newId()
        const of = { service_id: due.service_id, release_id: due.release_id, request_id: null }
        const run = { id, ...of, trigger: 'CRON', event: 'CRON', scheduled_at: at, created_at: now } as const
        if (await insertRun(sql, run)) {
          count++
          const countsFor = { serviceId: due.service_id }
          await options.workflows().submit(sql, { id, kind: jobRunWorkflow, key: id, input: { runId: id }, countsFor })
        }
        await setNext(sql, due.service_id, next)
      }
      return count
    })
    if (claimed === 0) return
    failpoint('job.claimed')
    options.workflows().nudge()
  },
})

/** Milliseconds that an ended run stays on the engine for its lines to be collected. */
const keptMs = 10_000

/**
 * Deletes and returns the failed runs of these jobs. Recently ended ones stay until their lines are
 * collected and their containers are removed.
 */
export const cleanFailedRuns = (
  { database, clock }: Pick<JobsOptions, 'database' | 'clock'>,
  jobs: readonly string[],
) => forgetFailedRuns(database, jobs, new Date(clock.now().getTime() - keptMs))

/** Removes from one engine the remains of ended runs and everything without a run. */
export const createTaskSweeper = (options: JobsOptions, { name, engine }: NamedEngine<TaskRunner>): Reconciler => ({
  name: reconcilerName('ended tasks', name),
  everyMs: 5000,
  reconcile: async (signal) => {
    const { database, clock } = options
    const tasks = await engine.listTasks(signal)
    if (tasks.length === 0) return
    const ids = tasks.map(({ run }) => runOfTry(run))
    const runs = new Map((await findRuns(database, ids)).map((run) => [run.id, run]))
    const keptFrom = clock.now().getTime() - keptMs
    const held = await options.heldRuns(database, ids, new Date(keptFrom))
    for (const { run: id } of tasks) {
      const run = runs.get(runOfTry(id))
      if (run) collectRun(options, run)
      const isKept = run ? isActive(run) || run.updated_at.getTime() > keptFrom : held.has(runOfTry(id))
      if (!isKept) await engine.endTask(id, { signal, output: silent })
    }
  },
})

/** Deletes runs that ended longer ago than their job's settings keep them. */
export const createRunPruner = ({ database, clock }: Pick<JobsOptions, 'database' | 'clock'>): Reconciler => ({
  name: 'old runs',
  everyMs: 60_000,
  reconcile: () => forgetOldRuns(database, clock.now()),
})
