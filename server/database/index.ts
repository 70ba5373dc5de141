// The database: opens and migrates PostgreSQL, and runs it if no other is configured. The rooms'
// `*-store.ts` define the content.

export { withOwner, withoutOwner } from '../lib/owner.ts'
export { alone } from './alone.ts'
export type { Database, Fragment, Sql } from './database.ts'
export { databaseErrorToAppError, isUniqueViolation, violatedConstraint } from './database-error.ts'
export { createDueWatch, type DueReconciler } from './due.ts'
export { type EmbeddedDatabase, type EmbeddedOptions, embeddedUrl, startEmbedded } from './embedded.ts'
export { tryLock as exclusiveLock } from './exclusive.ts'
export { type Listening, listen } from './listen.ts'
export { type Migration, migrate, schemaState } from './migrate.ts'
export { openDatabase, type PoolOptions, renewConnections } from './pool.ts'
export type { Pulse } from './pulse.ts'
export { createPulseOf, createReadiness } from './readiness.ts'
export { isUsed, readSetting, settingOr, writeSetting } from './setting-store.ts'
export { lackingBytes, takeSnapshot } from './snapshot.ts'
export {
  listSnapshots,
  type PlatformVersion,
  type Snapshot,
  type SnapshotRecord,
} from './snapshot-record.ts'
export { inTransaction } from './transaction.ts'
export { type TrialOptions, tryMigrations } from './trial.ts'
export { afterCommit, outsideUnit, unitOfWork } from './unit-of-work.ts'
export { goBack, type WayBackOptions, type WentBack } from './way-back.ts'
