import type { Clock } from '../lib/clock.ts'

/**
 * Lets one loop wait until it is woken. If it is woken while it is busy, its next wait returns at
 * once.
 */
export interface Wake {
  wake(): void
  wait(ms: number): Promise<void>
}

/** Without a shared reason, every abort would create an exception with its stack. */
const isWoken = 'woken'

export function createWake(clock: Clock): Wake {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(isWoken),
    wait: async (ms) => {
      const current = woken
      try {
        await clock.sleep(ms, current.signal)
      } catch (error) {
        if (!current.signal.aborted) throw error
        woken = new AbortController()
      }
    },
  }
}
