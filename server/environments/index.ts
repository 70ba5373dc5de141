/**
 * Everything that belongs to an environment except its services: stages, rules, copies, exports and
 * lists across environments.
 */
export { type Copier, createClone } from './clone.ts'
export { copiesOf } from './copies.ts'
export { createServiceNameCopier } from './copy-names.ts'
export { createRowCopier } from './copy-rows.ts'
export { createVolumeCopier } from './copy-volumes.ts'
export { createCopyWorkflow } from './copy-workflow.ts'
export type { DataCopyOptions } from './data-copy.ts'
export { createErasureWorkflow, submitErasure } from './erasure-workflow.ts'
export { createExport } from './export.ts'
export { createOverview } from './overview.ts'
export { createProjectRules } from './project-rules.ts'
export { createResumer } from './resumer.ts'
export { createRules } from './rules.ts'
export { isWithin, type Schedule } from './schedule.ts'
export { createScheduler, type SchedulerOptions, type TurnOrder } from './scheduler.ts'
export { createServiceCopyWorkflow } from './service-copy-workflow.ts'
export { type StageRow, stageTarget } from './stage-store.ts'
export { createStages } from './stages.ts'
export { createStrayEraser } from './stray-environments.ts'
export { submitServiceCopy } from './submit-service-copy.ts'
