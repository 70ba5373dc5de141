import assert from 'node:assert/strict'
import { systemClock as clock } from '../../server/lib/clock.ts'

/**
 * Asks repeatedly until the answer is neither undefined nor false, and returns it. Fails after
 * `limitMs` with the condition and, if given, what was seen last.
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  options: { readonly limitMs?: number; readonly everyMs?: number; readonly seen?: () => unknown } = {},
): Promise<T> {
  const { limitMs = 60_000, everyMs = 25, seen } = options
  const end = clock.monotonic() + limitMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (clock.monotonic() > end) {
      assert.fail(`not within ${limitMs / 1000} s: ${what}${seen ? `; seen last: ${JSON.stringify(seen())}` : ''}`)
    }
    await clock.sleep(everyMs)
  }
}

/** Returns milliseconds that only increase, to measure durations. */
export const now = (): number => clock.monotonic()
