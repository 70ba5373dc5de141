import type { Fragment, Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { insertEvent, insertion, insertOutcomes, type NewEvent } from './event-store.ts'

/** One change, as its room knows it. */
export type AuditEntry = Omit<NewEvent, 'id'>

/** Writes a change to the audit log in the caller's transaction. */
export const recordChange = (sql: Sql, entry: AuditEntry): Promise<void> => insertEvent(sql, { id: newId(), ...entry })

/** The same as a part of the changing statement: inserts a row if `from` has one. */
export const recordChangeWith = (sql: Sql, entry: AuditEntry, from: Fragment): Fragment =>
  insertion(sql, { id: newId(), ...entry }, from)

/**
 * The result of a deployed, stopped … service: the status of its part of the deployment, its action
 * on a stack, and the event type of both.
 */
export interface Outcome {
  readonly stack_action: string | null
  readonly status: 'SUCCESS' | 'ERROR'
  readonly event: string
}

/** Writes the results of a deployment's services in the transaction of its end. */
export const recordOutcome = (sql: Sql, requestId: string, outcomes: readonly Outcome[], now: Date): Promise<void> =>
  insertOutcomes(sql, requestId, outcomes, now)
