/** The only source of time and of waiting. Tests pass their own clock. */
export interface Clock {
  /** Wall-clock time, for display. Never use it for leases, order or token decisions. */
  now(): Date
  /** Milliseconds that never decrease, for durations. */
  monotonic(): number
  /** Waits; rejects with the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  // The version in node:timers/promises creates an error with a stack for every abort.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const aborted = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', aborted)
        resolve()
      }, ms)
      signal?.addEventListener('abort', aborted, { once: true })
    }),
}
