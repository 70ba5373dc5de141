import { systemClock as clock } from '../lib/clock.ts'

/** Prints what is being done, does it, and prints how long that took. */
export async function timed<T>(say: (line: string) => void, text: string, work: () => Promise<T>): Promise<T> {
  say(`${text} …`)
  const startedAt = clock.monotonic()
  const result = await work()
  say(`${text}: done in ${((clock.monotonic() - startedAt) / 1000).toFixed(1)} s`)
  return result
}
