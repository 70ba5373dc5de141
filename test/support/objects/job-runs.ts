import { newId } from '../../../server/lib/id.ts'
import type { Contribution } from '../fixture.ts'

/** Adds an ended run of the job's timetable. */
export const addJobRun: Contribution = async ({ database, objects }) => {
  const jobRunId = newId()
  await database`
    insert into job_run (id, service_id, release_id, "trigger", event, status, created_at, updated_at, started_at,
    finished_at)
    values (${jobRunId}, ${objects.more['jobId'] ?? ''}, ${newId()}, 'CRON', 'CRON', 'SUCCESS', now(), now(), now(),
    now())`
  return { jobRunId }
}
