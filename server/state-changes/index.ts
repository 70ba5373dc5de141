/**
 * Every change of a state, once and in order: kept for a day, read by one reader for all followers.
 * Triggers write them, except those of an accepted request.
 */
export { type Position, runningState, type StateChange } from './state-change.ts'
export { createStateChangePruner } from './state-change-pruner.ts'
export { telling } from './state-change-store.ts'
export { createStateChanges, type StateChanges } from './state-changes.ts'
