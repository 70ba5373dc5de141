export type JobEvent = 'START' | 'STOP' | 'DELETE' | 'CRON'
export type Trigger = 'CRON' | 'FORCED' | 'DEPLOYMENT'
export type RunStatus = 'QUEUED' | 'RUNNING' | 'SUCCESS' | 'ERROR' | 'CANCELED' | 'SKIPPED'

/** One run of a job: its program, begun as often as its settings allow until it ends well. */
export interface JobRunRow {
  readonly id: string
  readonly service_id: string
  readonly release_id: string
  /** The deployment request that it is a part of. */
  readonly request_id: string | null
  readonly trigger: Trigger
  readonly event: JobEvent
  readonly status: RunStatus
  /** For which moment of its timetable. */
  readonly scheduled_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  /** How often its program was begun. */
  readonly tries: number
  readonly exit_code: number | null
  readonly reason: string | null
}

/** How a run ended; moments in RFC 3339, by the engine's clock. */
export type RunEnd = {
  readonly tries: number
  /** Null: no program ever ended. */
  readonly exitCode: number | null
  readonly startedAt: string | null
  readonly finishedAt: string | null
  /** Why it failed; null when it ended well. */
  readonly reason: string | null
  /** What it printed last, where it failed. */
  readonly lastLines: string[]
}

export const isActive = ({ status }: Pick<JobRunRow, 'status'>): boolean => status === 'QUEUED' || status === 'RUNNING'

/** What the engine calls one try of a run. */
export const tryId = (run: string, number: number): string => `${run}-${number}`
export const runOfTry = (id: string): string => id.slice(0, 36)
