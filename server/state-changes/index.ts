/**
 * Every change of a state or of a record, once and in order: kept for a day, read by one reader for
 * all followers. Triggers write changes of states, except those of an accepted request. Operations
 * write changes of records.
 */
export { insertRecordChange, type RecordChange } from './record-change-store.ts'
export { type Position, runningState, type StateChange } from './state-change.ts'
export { createStateChangePruner } from './state-change-pruner.ts'
export { telling } from './state-change-store.ts'
export { createStateChanges, type StateChanges } from './state-changes.ts'
