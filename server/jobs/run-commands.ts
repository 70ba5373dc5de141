import { afterCommit, type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { Workflows } from '../workflows/index.ts'
import { isActive } from './job-run.ts'
import { findRun } from './job-run-store.ts'
import { cancelRun } from './jobs.ts'
import { toRecord } from './run-records.ts'
import { findSchedule } from './schedule-store.ts'
import { nextOccurrence } from './timetable.ts'

const shownTimes = 5

/**
 * Returns the timetable that a job follows, with its next times. `cron_at` is null if it follows
 * none: it is not deployed, is stopped, or runs at events of its environment.
 */
export async function jobTimetable(database: Database, serviceId: string) {
  const row = await findSchedule(database, serviceId)
  if (!row) return { cron_at: null, timezone: 'Etc/UTC', next: [] }
  const next: Date[] = []
  for (let at = row.next_at; at && next.length < shownTimes; at = nextOccurrence(row, at) ?? null) next.push(at)
  return { cron_at: row.scheduled_at, timezone: row.timezone, next }
}

export interface RunCommandsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'submit' | 'requestCancel' | 'nudge'>
}

/** Changes that people make to runs of jobs. */
export function createRunCommands({ database, clock, workflows }: RunCommandsOptions) {
  return {
    /**
     * Ends a run of the timetable. The job continues with its next time. Throws 404 for an unknown
     * run, and 409 for one that has ended or that belongs to a deployment.
     */
    async cancel(serviceId: string, runId: string, by: string) {
      const run = await inTransaction(database, async (sql) => {
        const found = await findRun(sql, runId)
        if (found?.service_id !== serviceId) throw notFound('run', runId)
        if (!isActive(found)) throw new AppError('conflict', `The run is ${found.status}: it has ended.`)
        if (found.trigger !== 'CRON') throw new AppError('conflict', ofDeployment)
        await cancelRun(sql, { clock, workflows: () => workflows }, runId, `${by} cancelled it.`)
        return (await findRun(sql, runId)) ?? found
      })
      afterCommit(() => workflows.nudge())
      return toRecord(run)
    },
  }
}

const ofDeployment = 'The run belongs to a deployment. Cancel the deployment of its environment.'
export type RunCommands = ReturnType<typeof createRunCommands>
