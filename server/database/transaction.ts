import { type Clock, systemClock } from '../lib/clock.ts'
import type { Database, Sql } from './database.ts'
import { isRetryable } from './database-error.ts'
import { joinUnit } from './unit-of-work.ts'

const attempts = 5

/**
 * Runs `work` in a transaction and rolls back if it throws. If PostgreSQL aborts it in favour of
 * another transaction (serialization failure, deadlock), `work` runs again, at most five times, so
 * it must only run SQL. Other errors are rethrown. After a lost connection it is unknown whether
 * the transaction was committed. Inside a unit of work it is a part of that: it begins, repeats and
 * ends with the unit.
 */
export async function inTransaction<T>(
  db: Database,
  work: (sql: Sql) => Promise<T>,
  options: { readonly clock?: Clock; readonly random?: () => number } = {},
): Promise<T> {
  const joined = joinUnit(db, work)
  if (joined) return joined
  const { clock = systemClock, random = Math.random } = options
  for (let attempt = 1; ; attempt++) {
    try {
      // Wrapped in an object, because the driver would wait for each member of an array.
      const box = await db.begin(async (sql) => ({ value: await work(sql) }))
      return box.value
    } catch (error) {
      if (!isRetryable(error) || attempt === attempts) throw error
      await clock.sleep(random() * 10 * 2 ** attempt)
    }
  }
}
