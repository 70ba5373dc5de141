export type JobEvent = 'START' | 'STOP' | 'DELETE' | 'CRON'
export type Trigger = 'CRON' | 'FORCED' | 'DEPLOYMENT'
export type RunStatus = 'QUEUED' | 'RUNNING' | 'SUCCESS' | 'ERROR' | 'CANCELED' | 'SKIPPED'

/** One run of a job: its program, started as often as its settings allow until it succeeds. */
export interface JobRunRow {
  readonly id: string
  readonly service_id: string
  readonly release_id: string
  /** The deployment request of the run. */
  readonly request_id: string | null
  readonly trigger: Trigger
  readonly event: JobEvent
  readonly status: RunStatus
  /** The moment of its timetable. */
  readonly scheduled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  /** How often its program was started. */
  readonly tries: number
  readonly exit_code: number | null
  readonly reason: string | null
}

/** The result of a run. Times are RFC 3339, by the engine's clock. */
export type RunEnd = {
  readonly tries: number
  /** Null if no program ever ended. */
  readonly exitCode: number | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  /** Why it failed, or null. */
  readonly reason: string | null
  /** The last lines of a failed run. */
  readonly lastLines: string[]
}

export const isActive = ({ status }: Pick<JobRunRow, 'status'>): boolean => status === 'QUEUED' || status === 'RUNNING'

/** The engine's name for one try of a run. */
export const tryId = (run: string, number: number): string => `${run}-${number}`
export const runOfTry = (id: string): string => id.slice(0, 36)
