import {
  createJobRunWorkflow,
  createRunPruner,
  createTaskSweeper,
  createTimetables,
  type JobsOptions,
} from '../jobs/index.ts'
import { loadJob, type RecipeOptions } from '../rollout/index.ts'
import type { Foundation } from './foundation.ts'

/** Timetables of cron jobs and their runs. */
export function createJobRuns({ collector, collect, log, engines }: Foundation, recipe: RecipeOptions) {
  const options: JobsOptions = {
    ...recipe,
    load: (run) => loadJob(recipe, run),
    collect,
    collectRun: (run) => {
      if (collector.following().includes(run.service_id)) return
      void loadJob(recipe, run)
        .then((job) => job && collect(run.service_id, run.release_id, job.secrets))
        .catch((error: unknown) => log.warn({ err: error, runId: run.id }, 'lines are not collected yet'))
    },
  }
  return {
    workflow: createJobRunWorkflow(options),
    reconcilers: [
      createTimetables(options),
      ...engines.all.map((engine) => createTaskSweeper(options, engine)),
      createRunPruner(options),
    ],
  }
}
