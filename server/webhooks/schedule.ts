const minute = 60_000
const hour = 60 * minute

/** Waits before the second, third … try: eight tries over about 28 hours. */
export const retryAfterMs = [5_000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour] as const

/** A webhook without a successful answer for this long is disabled. */
export const disableAfterMs = 120 * hour

const longestToldMs = 24 * hour

/**
 * Returns the time of the next try after `attempts` tries, delayed by up to a tenth at random to
 * spread the load. Undefined if there is none. The receiver's Retry-After, in seconds, counts if it
 * is later, up to a day.
 */
export function nextAttempt(
  now: Date,
  attempts: number,
  random: number,
  toldSeconds: number | undefined,
): Date | undefined {
  const planned = retryAfterMs[attempts - 1]
  if (planned === undefined) return undefined
  const told = Math.min(longestToldMs, (toldSeconds ?? 0) * 1000)
  return new Date(now.getTime() + Math.max(planned * (1 + random / 10), told))
}
