import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { deleteChanges, lockFeed, numberChanges } from './state-change-store.ts'

export const keptMs = 24 * 60 * 60 * 1000
/** Numbered in one transaction at most. */
export const mostNumbered = 1000

/** Forgets changes after a day. Those that nobody followed are numbered first, so that whoever comes back can tell what is missing. */
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

/** How many got a number, and the last number. */
export const numberSome = (database: Database): ReturnType<typeof numberChanges> =>
  inTransaction(database, async (sql) => numberChanges(sql, await lockFeed(sql), mostNumbered))
