import type { Clock } from '../lib/clock.ts'

/** What a limiter says of one request. */
export interface Verdict {
  readonly allowed: boolean
  /** Requests at once; 0: requests are not limited. */
  readonly limit: number
  /** Requests that would be allowed right now. */
  readonly remaining: number
  /** Whole seconds until one more is allowed; 0 when one is. */
  readonly resetSeconds: number
}

export interface RateLimiter {
  take(key: string): Verdict
}

const maxKeys = 100_000

/**
 * GCRA: one timestamp a key. `perSecond` requests a second go on for ever, `burst` at once; 0 a
 * second switches it off. Memory is bounded: only keys that have been idle long enough to be full
 * again are forgotten.
 */
export function createRateLimiter(perSecond: number, burst: number, clock: Clock): RateLimiter {
  if (perSecond === 0) return { take: () => ({ allowed: true, limit: 0, remaining: burst, resetSeconds: 0 }) }
  const intervalMs = 1000 / perSecond
  const toleranceMs = intervalMs * Math.max(0, burst - 1)
  const arrivals = new Map<string, number>()
  return {
    take(key) {
      const now = clock.monotonic()
      if (arrivals.size >= maxKeys) forgetIdle(arrivals, now)
      const expected = Math.max(now, arrivals.get(key) ?? now)
      const allowed = expected - now <= toleranceMs
      const next = allowed ? expected + intervalMs : expected
      arrivals.set(key, next)
      const waitMs = Math.max(0, next - now - toleranceMs)
      const remaining = Math.max(0, Math.floor((toleranceMs - (next - now)) / intervalMs) + 1)
      return { allowed, limit: burst, remaining, resetSeconds: Math.ceil(waitMs / 1000) }
    },
  }
}

function forgetIdle(arrivals: Map<string, number>, now: number): void {
  for (const [key, arrival] of arrivals) if (arrival <= now) arrivals.delete(key)
}
