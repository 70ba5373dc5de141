import type { Clock } from '../lib/clock.ts'
import { openDatabase } from './pool.ts'

/**
 * Runs `work` while no other process runs work of this name on the same database. The lock ends
 * with its connection, however the process ends.
 */
export async function alone<T>(
  {
    url,
    name,
    clock,
    signal,
  }: { readonly url: string; readonly name: string; readonly clock: Clock; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const database = openDatabase({ url, max: 1, name: 'quayside alone' })
  const take = async (): Promise<boolean> => {
    const [row] = await database<{ taken: boolean }[]>`
      select pg_try_advisory_lock(hashtextextended(${`quayside ${name}`}, 0)) as taken`
    return row?.taken === true
  }
  try {
    while (!(await take())) await clock.sleep(200, signal)
    return await work()
  } finally {
    await database.end({ timeout: 5 })
  }
}
