import type { Attempt } from '../../lib/attempt.ts'
import type { RunningTask, TaskFile, TaskOutcome } from '../task.ts'
import type { Release, Task } from '../workload.ts'

/**
 * Runs programs to their end. `run` is a stable id of one run: up to 80 lower-case letters, digits
 * and hyphens. An attempt finds by it what an earlier attempt created.
 */
export interface TaskRunner {
  /** Creates what one run needs and does not begin it. Throws EngineError. */
  prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void>
  /**
   * Runs what was prepared, once, and waits for its end. Joins a run that has begun; returns the
   * outcome of a run that has ended. Ends the run when its time is over. The rest of the run stays
   * until `endTask`. Throws EngineError if the run was never prepared or was removed: it is not
   * begun again. Waits for `whenReady` just before it begins the run; a run that has begun does not
   * call it.
   */
  runTask(
    release: Release<Task>,
    run: string,
    attempt: Attempt & { readonly whenReady?: () => Promise<void> },
  ): Promise<TaskOutcome>
  /**
   * Ends the program of a run in order and returns the outcome, with its files. The rest of the run
   * stays until `endTask`. Returns undefined if it has not begun. Throws EngineError if it was
   * removed.
   */
  stopTask(release: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome | undefined>
  /**
   * Reads one of the output files of a run as it is now, while its program may be writing it.
   * Returns undefined if it does not exist. Throws EngineError, also if the run was removed.
   */
  readTaskFile(release: Release<Task>, run: string, path: string, signal: AbortSignal): Promise<TaskFile | undefined>
  /**
   * Frees the processors and the memory that a run reserves after its end. Its lines stay until
   * `endTask`, and its files may be gone.
   */
  freeTask(run: string, attempt: Attempt): Promise<void>
  /** Ends the run if it still runs, and removes what is left of it. */
  endTask(run: string, attempt: Attempt): Promise<void>
  /** Lists the runs of which something is left. */
  listTasks(signal: AbortSignal): Promise<RunningTask[]>
}
