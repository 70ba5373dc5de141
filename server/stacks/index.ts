// Runs of Terraform stacks: their programs and arguments, plans, states with their versions and
// locks, resources and outputs.

export { driftPolicy, editDriftPolicy, nextDrift } from './drift-policy.ts'
export { holdsLock, isDriftDue, lockDueDrift, setDrifted, setNextDrift, unfinishedDrift } from './drift-store.ts'
export { driftLines, planLines } from './plan-lines.ts'
export { planRefusal, staleText } from './plan-refusal.ts'
export { type PlanSummary, summarizePlan } from './plan-summary.ts'
export { findPlan, listLastPlans, type OpenPlan } from './run-record-store.ts'
export { findRun, stackPlan, stackRuns, toRecord } from './run-records.ts'
export { chooseRunner, type RunnerImages, versionsOf } from './runner-images.ts'
export { stateFilePath } from './runner-program.ts'
export { keptText, stackFailure } from './stack-failure.ts'
export {
  endStackRun,
  findUnfinishedRuns,
  heldRuns,
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
export { keptSerial } from './state-store.ts'
export { restoreState, stateVersions } from './state-versions.ts'
export { withWrapped } from './wrapped-secrets.ts'
