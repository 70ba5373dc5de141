import type { Activity } from '../routers/index.ts'

/**
 * Since when nobody has asked for a service, by a monotonic clock, and what its counter said then.
 */
export interface Quiet {
  readonly sinceMs: number
  readonly requests: number
}

/**
 * Pure: what is known after one more look. A counter that differs, in whatever direction, is a
 * request; so is anything open.
 */
export function stillQuiet(known: Quiet | undefined, seen: Activity | undefined, nowMs: number): Quiet {
  const requests = seen?.requests ?? 0
  const isSame = known !== undefined && known.requests === requests && (seen?.open ?? 0) === 0
  return isSame ? known : { sinceMs: nowMs, requests }
}

/**
 * Whoever was seen once only, or asked just now, is not: that takes a second look, however short
 * the time.
 */
export const isIdle = (quiet: Quiet, idleMs: number, nowMs: number): boolean =>
  nowMs > quiet.sinceMs && nowMs - quiet.sinceMs >= idleMs
