import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { endCopyRecord, setCopyReason } from './copy-record-store.ts'

export interface FailedCopy {
  /** The id of the copied environment or service. */
  readonly id: string
  readonly reason: string
  /** Ends the deployment requests that wait for the copy. */
  readonly failRequests: (sql: Sql) => Promise<void>
  /** Removes everything of the copy. */
  readonly remove: (sql: Sql) => Promise<void>
}

/**
 * Ends a copy that failed and removes it, in the caller's transaction. If it cannot be removed, the
 * copy has failed nevertheless, so deployments of its source continue; its record says what is
 * left. Safe to run again, until nothing is left.
 */
export async function endFailedCopy(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  sql: Sql,
  { id, reason, failRequests, remove }: FailedCopy,
): Promise<void> {
  await endCopyRecord(sql, id, { status: 'ERROR', reason, now: clock.now() })
  const problems = [await problemOf(sql, failRequests), await problemOf(sql, remove)].filter((one) => one !== undefined)
  if (problems.length > 0) log.error({ copy: id, reason, problems }, 'a copy that failed could not be removed')
  await setCopyReason(sql, id, [reason, ...problems.map(leftText)].join(' '))
}

const leftText = (problem: string): string =>
  `What was copied could not be removed and is tried again: ${problem}. Delete the copy by hand if this stays.`

/** Does the work, or undoes its own part of the transaction and returns why it failed. */
async function problemOf(sql: Sql, work: (sql: Sql) => Promise<void>): Promise<string | undefined> {
  if (!('savepoint' in sql)) throw new Error('the end of a copy needs a transaction')
  try {
    await sql.savepoint(work)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
