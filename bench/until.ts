import { systemClock } from '../server/lib/clock.ts'

/** Asks again until there is an answer other than undefined or false, and gives it; throws after the limit. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { everyMs = 10, limitMs = 30_000 } = {},
): Promise<T> {
  const end = systemClock.monotonic() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (systemClock.monotonic() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`)
    await systemClock.sleep(everyMs)
  }
}
