/** Wall clocks of time zones. A wall time is written as the milliseconds that it would be in UTC. */

const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  formats.set(zone, format)
  return format
}

/** How far wall clocks are ahead of UTC at that moment. Throws RangeError for what is no time zone. */
export function offsetMs(zone: string, atMs: number): number {
  const parts: Record<string, number> = {}
  for (const { type, value } of formatOf(zone).formatToParts(atMs)) parts[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000
}

const dayMs = 24 * 3600 * 1000

/** The moment at which clocks show that time first; where they never do, the moment at which they go on behind it. */
export function firstInstantOf(zone: string, wallMs: number): number {
  const before = offsetMs(zone, wallMs - dayMs)
  const after = offsetMs(zone, wallMs + dayMs)
  const candidates = [wallMs - before, wallMs - after].filter((atMs) => atMs + offsetMs(zone, atMs) === wallMs)
  if (candidates.length > 0) return Math.min(...candidates)
  const [from, upTo] = [wallMs - Math.max(before, after), wallMs - Math.min(before, after)]
  return transitionAfter(zone, from, upTo) ?? upTo
}

/** The first moment after `fromMs`, up to `upToMs`, at which the offset is another one. Looks once a day, for clocks change seldom. */
export function transitionAfter(zone: string, fromMs: number, upToMs: number): number | undefined {
  const offset = offsetMs(zone, fromMs)
  for (let low = fromMs; low < upToMs; low += dayMs) {
    let high = Math.min(low + dayMs, upToMs)
    if (offsetMs(zone, high) === offset) continue
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (offsetMs(zone, middle) === offset) low = middle
      else high = middle
    }
    return high
  }
  return undefined
}
