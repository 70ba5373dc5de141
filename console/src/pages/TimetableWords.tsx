import { cronWords } from '../ui/cron-words.ts'

export interface Timetable {
  readonly cron_at: string | null
  readonly timezone: string
  readonly next_at: string | null
}

interface TimetableWordsProps {
  readonly policy: Timetable
  /** A sentence for a timetable that is switched off. */
  readonly none: string
}

/** A timetable in words, with its next time in its own time zone. */
export function TimetableWords({ policy, none }: TimetableWordsProps) {
  const { cron_at: cron, timezone, next_at: next } = policy
  if (cron === null) return <p>{none}</p>
  const moment = next && new Date(next)
  return (
    <p>
      {cronWords(cron)}, {timezone}.
      {moment && (
        <>
          {' '}
          Next: <time dateTime={moment.toISOString()}>{inZone(moment, timezone)}</time>
        </>
      )}
    </p>
  )
}

/** Pure: a moment as a clock in the time zone shows it. */
export const inZone = (moment: Date, timeZone: string): string =>
  moment.toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' })
