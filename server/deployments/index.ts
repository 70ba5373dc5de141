/** What was asked to run and what came of it: requests, the recipe, status, history. Runs nothing by itself: engines do. */
export { statusesOfExecution, statusesWithStages } from './by-stages.ts'
export { createDeploymentWorkflow } from './deployment-workflow.ts'
export { createDeployments, type Deployments, type DeploymentsOptions } from './deployments.ts'
export { engineRelease } from './engine-release.ts'
export {
  environmentHistory,
  environmentHistoryV1,
  serviceHistoryBrief,
  serviceHistoryV1,
} from './environment-history.ts'
export { deploymentRequestTarget, type RequestTargetRow } from './environment-history-store.ts'
export { environmentLog, executionOf, noExecution, toEnvironmentLog } from './environment-log.ts'
export { toEnvironmentLogV1 } from './environment-log-v1.ts'
export { serviceHistory } from './history.ts'
export { haveImage } from './image-release.ts'
export { loadJob } from './job-release.ts'
export { createLogPruner } from './log-pruner.ts'
export { lastReason } from './outcome-store.ts'
export { createPlans, type Plans } from './plans.ts'
export { projectOverview } from './project-status.ts'
export { deploymentQueue } from './queue.ts'
export { type RecipeOptions, whileUnreachable } from './recipe.ts'
export { refusalOf, refusalOfKind } from './refusal-of-kind.ts'
export { createReleasePruner } from './release-pruner.ts'
export { findRelease } from './release-store.ts'
export type { RecordRequest, RequestedBy } from './request.ts'
export { createScheduled, type RuleOrder } from './scheduled.ts'
export { createSelected, type PushedTarget } from './selected.ts'
export { requestStatus, serviceQueue } from './service-queue.ts'
export { type ReadGitCredential, repositoryOf } from './source.ts'
export { type Dialect, environmentStatuses, serviceStatus, serviceStatuses } from './status.ts'
export { archiveCommandOf, volumesOf } from './versioned.ts'
export type { WantedVersion } from './wanted-version.ts'
