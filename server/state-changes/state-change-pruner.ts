import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { deleteChanges, lockFeed, numberChanges } from './state-change-store.ts'

export const keptMs = 24 * 60 * 60 * 1000
/** Maximum number of changes that are numbered in one transaction. */
export const mostNumbered = 1000

/**
 * Deletes changes after a day. Unread ones are numbered first, so that a returning follower knows
 * what it missed.
 */
export const createStateChangePruner = ({
  database,
  clock,
}: {
  readonly database: Database
  readonly clock: Clock
}) => ({
  name: 'state changes',
  everyMs: 60_000,
  async reconcile(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await numberSome(database)).count === mostNumbered) {}
    await inTransaction(database, async (sql) => {
      await lockFeed(sql)
      await deleteChanges(sql, new Date(clock.now().getTime() - keptMs))
    })
  },
})

/** The count of numbered changes, and the last number. */
export const numberSome = (database: Database): ReturnType<typeof numberChanges> =>
  inTransaction(database, async (sql) => numberChanges(sql, await lockFeed(sql), mostNumbered))
