/** How one run of a task ended. */
export interface TaskOutcome {
  readonly exitCode: number
  readonly outOfMemory: boolean
  /** Its time was over, and it was ended. */
  readonly timedOut: boolean
  /** By the engine's clock. */
  readonly startedAt: Date
  readonly finishedAt: Date
  /** The text of the output file, at most 1 MiB; absent where it wrote none. */
  readonly output?: string
  /** Why the output file could not be read: it is too long, or no file. */
  readonly outputProblem?: string
  /** The last lines that it printed, without secrets. */
  readonly lastLines: readonly string[]
}

/** One run of which something is there. */
export interface RunningTask {
  readonly run: string
  readonly service: string
  readonly running: boolean
}

/** The longest text of an output file. */
export const longestOutputBytes = 1024 * 1024
