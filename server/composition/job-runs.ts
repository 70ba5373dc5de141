import {
  createJobRunWorkflow,
  createRunPruner,
  createTaskSweeper,
  createTimetables,
  type JobsOptions,
} from '../jobs/index.ts'
import { loadJob, type RecipeOptions } from '../rollout/index.ts'
import { heldRuns } from '../stacks/index.ts'
import type { Foundation } from './foundation.ts'

/** Timetables of cron jobs and their runs. */
export function createJobRuns({ lineCollector, engines }: Foundation, recipe: RecipeOptions) {
  const options: JobsOptions = { ...recipe, ...lineCollector, load: (run) => loadJob(recipe, run), heldRuns }
  return {
    workflow: createJobRunWorkflow(options),
    reconcilers: [createTimetables(options), createRunPruner(options)],
    sweepers: engines.each((engine) => createTaskSweeper(options, engine)),
  }
}
