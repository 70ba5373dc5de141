/**
 * The audit log: one row for each change, written with it, sealed into a chain within a second,
 * kept as long as configured.
 */
export { createAudit, type EventFilter, type TargetFilter } from './audit.ts'
export { type ChainState, createSealer, verifyChain } from './chain.ts'
export { describeChain } from './describe-chain.ts'
export { readMoment } from './moment.ts'
export { findPlace, type Place } from './place-store.ts'
export { type AuditEntry, type Outcome, recordChange, recordChangeWith, recordOutcome } from './record.ts'
export { createPruner } from './retention.ts'
export { serviceEntry } from './service-entry.ts'
export { type Verified, verifyAll } from './verify-all.ts'
