import type { Database } from '../database/index.ts'
import type { JobRunRow } from './job-run.ts'
import { listRuns } from './job-run-store.ts'

const longestList = 100

/** The runs of a job as the API returns them, newest first. */
export const jobRuns = async (database: Database, serviceId: string) =>
  (await listRuns(database, serviceId, longestList)).map(toRecord)

/** Pure: a run as the API returns it. */
export function toRecord({ id, trigger, event, status, scheduled_at, created_at, started_at, ...ended }: JobRunRow) {
  const { finished_at, tries, exit_code, reason } = ended
  const duration_sec =
    started_at && finished_at ? Math.max(0, Math.round((finished_at.getTime() - started_at.getTime()) / 1000)) : null
  const moments = { scheduled_at, created_at, started_at, finished_at, duration_sec }
  return { id, trigger, event, status, ...moments, tries, exit_code, reason }
}
