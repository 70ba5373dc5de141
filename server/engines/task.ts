/** How one run of a task ended. */
export interface TaskOutcome {
  readonly exitCode: number
  readonly outOfMemory: boolean
  /** The run exceeded its time limit and was ended. */
  readonly timedOut: boolean
  /** By the engine's clock. */
  readonly startedAt: Date
  readonly finishedAt: Date
  /** The content of the output file, at most 1 MiB; absent if the program wrote none. */
  readonly output?: string
  /** Why the output file could not be read: it is too long, or not a file. */
  readonly outputProblem?: string
  /** The output files that the program wrote, by their paths. */
  readonly files?: ReadonlyMap<string, TaskFile>
  /** The last lines of the output, with secrets masked. */
  readonly lastLines: readonly string[]
}

/** The content of an output file, or why it could not be read. */
export type TaskFile =
  | { readonly content: Uint8Array; readonly problem?: undefined }
  | { readonly problem: string; readonly content?: undefined }

/** A run that has left something on the engine. */
export interface RunningTask {
  readonly run: string
  readonly service: string
  readonly running: boolean
}

/** The maximum size of an output file. */
export const longestOutputBytes = 1024 * 1024
