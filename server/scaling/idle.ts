import type { Activity } from '../routers/index.ts'

/**
 * The time of the last sign of a request for a service, by a monotonic clock, and the value of its
 * counter then.
 */
export interface Quiet {
  readonly sinceMs: number
  readonly requests: number
}

/**
 * Pure: returns what is known after another look. Any change of the counter is a request, and so is
 * an open connection.
 */
export function stillQuiet(known: Quiet | undefined, seen: Activity | undefined, nowMs: number): Quiet {
  const requests = seen?.requests ?? 0
  const isSame = known !== undefined && known.requests === requests && (seen?.open ?? 0) === 0
  return isSame ? known : { sinceMs: nowMs, requests }
}

/**
 * A service that was seen only once, or has a new request, is not idle. That takes a second look,
 * however short the time.
 */
export const isIdle = (quiet: Quiet, idleMs: number, nowMs: number): boolean =>
  nowMs > quiet.sinceMs && nowMs - quiet.sinceMs >= idleMs
