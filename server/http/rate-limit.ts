import type { Clock } from '../lib/clock.ts'

/** The decision about one request. */
export interface Verdict {
  readonly allowed: boolean
  /** The burst limit; 0 if requests are not limited. */
  readonly limit: number
  /** How many more requests would be allowed right now. */
  readonly remaining: number
  /** Whole seconds until the next request is allowed; 0 if it is allowed now. */
  readonly resetSeconds: number
}

export interface RateLimiter {
  take(key: string): Verdict
}

const maxKeys = 100_000

/**
 * Creates a GCRA limiter with one timestamp a key. It allows `perSecond` requests a second and
 * `burst` at once; 0 a second turns it off. Memory is bounded: it forgets a key only once its
 * budget is full again.
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
