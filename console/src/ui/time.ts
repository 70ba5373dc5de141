const formatter = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const steps = [
  { unit: 'second', seconds: 1 },
  { unit: 'minute', seconds: 60 },
  { unit: 'hour', seconds: 3_600 },
  { unit: 'day', seconds: 86_400 },
] as const

/** Pure: a moment as seen from another one, such as "3 minutes ago". */
export function relativeTime(moment: string, now: number): string {
  const seconds = (Date.parse(moment) - now) / 1000
  const step = steps.findLast(({ seconds: size }) => Math.abs(seconds) >= size) ?? steps[0]
  return formatter.format(Math.round(seconds / step.seconds), step.unit)
}
