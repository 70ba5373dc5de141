import { systemClock as clock } from '../lib/clock.ts'

/** Shorter tasks need no second line. */
const noticeableMs = 100

/**
 * Prints the name of a task, runs it, and prints how long it took, unless it was too short to
 * notice.
 */
export async function timed<T>(say: (line: string) => void, text: string, work: () => Promise<T>): Promise<T> {
  say(`${text} …`)
  const startedAt = clock.monotonic()
  const result = await work()
  const ms = clock.monotonic() - startedAt
  if (ms >= noticeableMs) say(`${text}: done in ${(ms / 1000).toFixed(1)} s`)
  return result
}
