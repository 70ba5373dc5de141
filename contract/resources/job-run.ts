import { Enum, Nullable, Timestamp, Type, Uuid } from '../schema.ts'

/** The times at which a deployed job runs. */
export const JobTimetable = Type.Object({
  cron_at: Nullable(Type.String({ description: 'a cron expression; null if the job follows no timetable' })),
  timezone: Type.String(),
  next: Type.Array(Timestamp, { description: 'the next times, at most five' }),
})

/** One run of a job. A failed program is retried as often as the job's settings allow. */
export const JobRun = Type.Object({
  id: Uuid,
  /** Started by the schedule, by `forceEvent`, or by a deployment, a stop or a deletion. */
  trigger: Enum(['CRON', 'FORCED', 'DEPLOYMENT']),
  event: Enum(['START', 'STOP', 'DELETE', 'CRON']),
  status: Enum(['QUEUED', 'RUNNING', 'SUCCESS', 'ERROR', 'CANCELED', 'SKIPPED']),
  /** The scheduled time. Null if the run has none. */
  scheduled_at: Nullable(Timestamp),
  created_at: Timestamp,
  /** The start of its first try. */
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  duration_sec: Nullable(Type.Integer()),
  /** The number of tries. */
  tries: Type.Integer(),
  /** The exit code of its last try. Null if no program ended. */
  exit_code: Nullable(Type.Integer()),
  /** Why the run failed, with its last output. Null if it succeeded. */
  reason: Nullable(Type.String()),
})
