import type { Fragment, Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { insertEvent, insertion, insertOutcomes, type NewEvent } from './event-store.ts'

/** One change, as it is known where it is made. */
export type AuditEntry = Omit<NewEvent, 'id'>

/** Writes a change down, in its transaction. */
export const recordChange = (sql: Sql, entry: AuditEntry): Promise<void> => insertEvent(sql, { id: newId(), ...entry })

/** The same as a part of the statement that changes: inserts for the one row of `from`, or for none. */
export const recordChangeWith = (sql: Sql, entry: AuditEntry, from: Fragment): Fragment =>
  insertion(sql, { id: newId(), ...entry }, from)

/** What became of a service that was deployed, stopped …: the status of its part of the deployment, and what that is called. */
export interface Outcome {
  readonly status: 'SUCCESS' | 'ERROR'
  readonly event: string
}

/** Writes down what became of the services of a deployment, in the transaction of its end. */
export const recordOutcome = (sql: Sql, requestId: string, outcomes: readonly Outcome[], now: Date): Promise<void> =>
  insertOutcomes(sql, requestId, outcomes, now)
