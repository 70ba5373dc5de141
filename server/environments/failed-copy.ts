import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { endCopyRecord, setCopyReason } from './copy-record-store.ts'

export interface FailedCopy {
  /** The id of the environment or service that is the copy. */
  readonly id: string
  readonly reason: string
  /** Fails the deployment requests that wait for the copy. */
  readonly failRequests: (sql: Sql) => Promise<void>
  /** Removes the copy and everything in it. */
  readonly remove: (sql: Sql) => Promise<void>
}

/**
 * Ends a failed copy and removes it, in the caller's transaction. If the removal fails, the copy
 * still counts as failed, so deployments of its source continue. Its record then says what is left.
 * Running it again is safe and retries the removal.
 */
export async function endFailedCopy(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  sql: Sql,
  { id, reason, failRequests, remove }: FailedCopy,
): Promise<void> {
  await endCopyRecord(sql, id, { status: 'ERROR', reason, now: clock.now() })
  const problems = [await problemOf(sql, failRequests), await problemOf(sql, remove)].filter((one) => one !== undefined)
  if (problems.length > 0) log.error({ copy: id, reason, problems }, 'a failed copy could not be removed')
  await setCopyReason(sql, id, [reason, ...problems.map(leftText)].join(' '))
}

const leftText = (problem: string): string =>
  `The failed copy could not be removed: ${problem}. The removal is retried. Delete the copy by hand if it remains.`

/** Does the work in a savepoint. If it fails, rolls it back and returns the reason. */
async function problemOf(sql: Sql, work: (sql: Sql) => Promise<void>): Promise<string | undefined> {
  if (!('savepoint' in sql)) throw new Error('endFailedCopy needs a transaction')
  try {
    await sql.savepoint(work)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
