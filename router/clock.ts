import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'

/** The only source of time and of waiting in this process. */

/** Returns milliseconds that never go backwards. For durations. */
export const monotonic = (): number => performance.now()

/** Returns the wall-clock time in milliseconds since 1970. For times that other programs wrote. */
export const wallClock = (): number => Date.now()

/** Returns the wall-clock time as an ISO 8601 string. */
export const timestamp = (): string => new Date().toISOString()

/**
 * Calls `work` once after `ms`. The returned function cancels it. Does not keep the process alive.
 */
export function after(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Waits until other work had its turn. */
export const nextTurn = (): Promise<void> => immediate()

/** Waits, and keeps the process alive meanwhile. For tests and measurements. */
export const sleep = (ms: number): Promise<void> => delay(ms)
