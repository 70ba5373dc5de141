import type postgres from 'postgres'

/** A pool, or the transaction that a use case opened. Stores take one of these as `sql` and never open one. */
export type Sql = postgres.Sql | postgres.TransactionSql
/** A piece of a statement, to be put into another one. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>
/** The pool itself: only use cases hold it, to open transactions. */
export type Database = postgres.Sql
