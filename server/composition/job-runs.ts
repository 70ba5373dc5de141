import { loadJob, type RecipeOptions } from '../deployments/index.ts'
import {
  createJobRunWorkflow,
  createRunPruner,
  createTaskSweeper,
  createTimetables,
  type JobsOptions,
} from '../jobs/index.ts'
import type { Foundation } from './foundation.ts'

/** Timetables of cron jobs and their runs. */
export function createJobRuns({ collector, collect }: Foundation, recipe: RecipeOptions) {
  const options: JobsOptions = {
    ...recipe,
    load: (run) => loadJob(recipe, run),
    collect: (service, secrets) => {
      if (secrets) collect(service, secrets)
      // Without the texts that are to be masked, nothing is begun; whoever runs it brings them.
      else if (collector.following().includes(service)) collector.follow(service)
    },
  }
  return {
    workflow: createJobRunWorkflow(options),
    reconcilers: [createTimetables(options), createTaskSweeper(options), createRunPruner(options)],
  }
}
