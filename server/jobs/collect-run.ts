import type { JobRunRow } from './job-run.ts'
import type { JobsOptions } from './jobs.ts'

/**
 * Starts collecting the lines of a running run, unless they are collected. A failure is logged, and
 * the next call retries.
 */
export function collectRun(
  { isCollected, collect, load, log }: Pick<JobsOptions, 'isCollected' | 'collect' | 'load' | 'log'>,
  run: JobRunRow,
): void {
  if (isCollected(run.service_id)) return
  void load(run)
    .then((job) => job && collect(run.service_id, run.release_id, job.secrets))
    .catch((error: unknown) => log.warn({ err: error, runId: run.id }, 'the lines of a run are not collected yet'))
}
