/**
 * Deployment requests: their acceptance, their queue, their targets, and the resulting states of
 * services.
 */
export { createDeployments, type Deployments, type DeploymentsOptions } from './deployments.ts'
export { listsOfKinds } from './lists-of-kinds.ts'
export { outcomesOf } from './outcomes.ts'
export { findExecution, findLastRequest, listRecent, type RequestProgress, requestTargets } from './progress-store.ts'
export { mayRefuse, type RefusalOptions, refusalOf, refusalOfKind } from './refusal-of-kind.ts'
export { deploymentWorkflow, type RecordRequest, type RequestedBy } from './request.ts'
export { requestState } from './request-state.ts'
export {
  findRequest,
  heldByCopies,
  listActiveRequests,
  type RequestRow,
  setRequestStatus,
  unfinishedRequests,
} from './request-store.ts'
export { createRestoring } from './restoring.ts'
export { findFormerRelease } from './rollback.ts'
export { createScheduled, type RuleOrder } from './scheduled.ts'
export { createSelected, type PushedTarget } from './selected.ts'
export { type ReadGitCredential, repositoryOf } from './source.ts'
export {
  type Dialect,
  environmentStatuses,
  readEnvironment,
  serviceStatus,
  serviceStatuses,
  statusDetails,
  statusForClient,
  toEnvironmentStatus,
  toStatuses,
} from './status.ts'
export { readStatuses, type StatusRow } from './status-store.ts'
export {
  enterState,
  leaveService,
  listStagesOfExecution,
  listTargets,
  setTargetCommit,
  type TargetRow,
  updateTarget,
} from './target-store.ts'
export { type PlanToApply, stackActionOf, type WantedVersion } from './wanted-version.ts'
export { failForCopies } from './withdraw.ts'
