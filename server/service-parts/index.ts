/** What hangs on a service beside its own settings: advanced settings, deployment restrictions, groups, autoscaling. */
export { createAdvancedSettings, type PartOwner } from './advanced-settings.ts'
export { type AutoscalingBody, type AutoscalingRecord, checkAutoscaling } from './autoscaling.ts'
export { copyServiceParts, type PartsRequest, partsOf, type RecordParts, setParts } from './parts.ts'
export { listRestrictionsOf, type RestrictionValues } from './restriction-store.ts'
export { createRestrictions } from './restrictions.ts'
