import { Enum, Nullable, Timestamp, Type, Uuid } from '../schema.ts'

/** One run of a job: its program, begun again after failures as often as its settings allow. */
export const JobRun = Type.Object({
  id: Uuid,
  /** Of its timetable; asked for with `forceEvent`; or by a deployment, a stop or a deletion. */
  trigger: Enum(['CRON', 'FORCED', 'DEPLOYMENT']),
  event: Enum(['START', 'STOP', 'DELETE', 'CRON']),
  status: Enum(['QUEUED', 'RUNNING', 'SUCCESS', 'ERROR', 'CANCELED', 'SKIPPED']),
  /** The moment of its timetable; null where it has none. */
  scheduled_at: Nullable(Timestamp),
  created_at: Timestamp,
  /** Of its first try. */
  started_at: Nullable(Timestamp),
  finished_at: Nullable(Timestamp),
  duration_sec: Nullable(Type.Integer()),
  /** How often its program was begun. */
  tries: Type.Integer(),
  /** Of its last try; null where no program ended. */
  exit_code: Nullable(Type.Integer()),
  /** Why it did not end well, with what it printed last; null where it did. */
  reason: Nullable(Type.String()),
})
