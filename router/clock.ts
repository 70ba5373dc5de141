import { setTimeout as delay } from 'node:timers/promises'

/** The only source of time and of waiting in this process. */

/** Milliseconds that only ever grow: for durations. */
export const monotonic = (): number => performance.now()

/** Wall-clock time as people read it. */
export const timestamp = (): string => new Date().toISOString()

/** Calls `work` once after `ms`; the given function calls it off. Does not keep the process alive. */
export function after(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Waits, and keeps the process alive meanwhile: for tests and measurements. */
export const sleep = (ms: number): Promise<void> => delay(ms)
