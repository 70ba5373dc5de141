import { setTimeout as delay } from 'node:timers/promises'

/** The only source of time and of waiting. Tests hand in a clock of their own. */
export interface Clock {
  /** Wall-clock time: for what people read. Never for leases, order or token decisions. */
  now(): Date
  /** Milliseconds that only ever grow: for durations. */
  monotonic(): number
  /** Waits; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    delay(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw error
    }),
}
