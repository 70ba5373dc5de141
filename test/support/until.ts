import assert from 'node:assert/strict'
import { systemClock as clock } from '../../server/lib/clock.ts'

/**
 * Asks again and again until the answer is something else than undefined or false, and gives it.
 * Fails after `limitMs` with what was waited for and, where given, what was seen last.
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
      assert.fail(`waited ${limitMs / 1000} s in vain: ${what}${seen ? `; seen last: ${JSON.stringify(seen())}` : ''}`)
    }
    await clock.sleep(everyMs)
  }
}

/** Milliseconds that only ever grow, for what may take so long. */
export const now = (): number => clock.monotonic()
