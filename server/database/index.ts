// The database: opens, migrates and, where none is given, runs PostgreSQL. What is stored is said in the rooms' `*-store.ts`.
export type { Database, Fragment, Sql } from './database.ts'
export { databaseErrorToAppError, isUniqueViolation, violatedConstraint } from './database-error.ts'
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './embedded.ts'
export { tryLock as exclusiveLock } from './exclusive.ts'
export { type Listening, listen } from './listen.ts'
export { migrate } from './migrate.ts'
export { openDatabase, type PoolOptions } from './pool.ts'
export { inTransaction } from './transaction.ts'
