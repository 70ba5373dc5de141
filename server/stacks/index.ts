// Runs of Terraform stacks: their programs and arguments, plans, states with their versions and
// locks, resources and outputs.

export { type PlanSummary, planLines, summarizePlan } from './plan-summary.ts'
export { chooseRunner, type RunnerImages, versionsOf } from './runner-images.ts'
export { stateFilePath } from './runner-program.ts'
export { keptText, stackFailure } from './stack-failure.ts'
export {
  endStackRun,
  findUnfinishedRuns,
  heldRuns,
  keptSerial,
  listResources,
  loseRun,
  markApplying,
  releaseLock,
  type StackAction,
  type StackRunRow,
} from './stack-store.ts'
export { type Phase, stackDockerfile, stackTask } from './stack-task.ts'
export { createStacks, type StackOwner, type Stacks } from './stacks.ts'
export { readState, type StateFile } from './state-file.ts'
