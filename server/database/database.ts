import type postgres from 'postgres'

/** A pool, or the transaction of a use case. Stores receive one as `sql` and never open one. */
export type Sql = postgres.Sql | postgres.TransactionSql
/** A fragment of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>
/** The pool itself. Only use cases have it, to open transactions. */
export type Database = postgres.Sql
