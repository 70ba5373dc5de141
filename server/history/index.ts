/** Histories, logs and stages of deployments, and the statuses of environments and projects. */
export { statusesOfExecution, statusesWithStages } from './by-stages.ts'
export { compareDeployments } from './compare-deployments.ts'
export {
  environmentHistory,
  environmentHistoryV1,
  serviceHistoryBrief,
  serviceHistoryV1,
} from './environment-history.ts'
export { deploymentRequestTarget, type RequestTargetRow } from './environment-history-store.ts'
export { environmentLog, executionOf, noExecution, stagesOfExecution, toEnvironmentLog } from './environment-log.ts'
export { toEnvironmentLogV1 } from './environment-log-v1.ts'
export { serviceHistory } from './history.ts'
export { createLogPruner } from './log-pruner.ts'
export { projectOverview } from './project-status.ts'
export { deploymentQueue } from './queue.ts'
export { requestStatus, serviceQueue } from './service-queue.ts'
