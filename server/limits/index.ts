/** How many objects an organization, or a part of it, may have. */
export { requireRoomOfNew, saveCreationLimits, takeRoom } from './creation-limit-store.ts'
export {
  type CreationLimits,
  creationLimitOf,
  type LimitKind,
  limitKinds,
  limitsFrom,
  usualLimits,
} from './creation-limits.ts'
