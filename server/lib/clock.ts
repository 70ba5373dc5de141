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
  // Not that of node:timers/promises: it makes an error, with its stack, of every abort.
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
