// Runs of jobs: their records and results, the timetables of cron jobs and their runs, outputs.

export type { JobEvent, JobRunRow, RunEnd, Trigger } from './job-run.ts'
export { isActive, runOfTry } from './job-run.ts'
export { beginRun, endRun, findRuns, insertRun, listRuns, listRunsOf } from './job-run-store.ts'
export { createJobRunWorkflow } from './job-run-workflow.ts'
export {
  endRunning,
  endTimetable,
  failRun,
  followTimetable,
  forgetRunsOf,
  type JobsOptions,
  type LoadedJob,
  takeOutputs,
} from './jobs.ts'
export { outputFile } from './outputs.ts'
export { cleanFailedRuns, createRunPruner, createTaskSweeper, createTimetables } from './reconcilers.ts'
export { createRunCommands, jobTimetable, type RunCommands } from './run-commands.ts'
export { jobRuns } from './run-records.ts'
export { runToEnd } from './run-task.ts'
export { nextOccurrence, type Timetable } from './timetable.ts'
