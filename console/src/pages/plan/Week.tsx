import styles from './Week.module.css'
import { hoursOf, type Weekday, weekdays } from './week.ts'

interface WeekProps {
  readonly days: readonly Weekday[]
  readonly start: string
  readonly stop: string
}

const clockOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** The hours of a week at which an environment runs. Each bar has its times as text. */
export function Week({ days, start, stop }: WeekProps) {
  const hours = hoursOf(days, start, stop)
  return (
    <ul className={styles['week']} aria-label="Running hours of a week">
      {weekdays.map((day, index) => {
        const spans = hours[index] ?? []
        return (
          <li key={day}>
            <span className={styles['day']}>{day.slice(0, 1) + day.slice(1, 3).toLowerCase()}</span>
            <svg viewBox="0 0 1440 10" preserveAspectRatio="none" aria-hidden="true">
              {spans.map(({ from, to }) => (
                <rect key={from} x={from} width={to - from} height="10" />
              ))}
            </svg>
            <small>{spans.map(({ from, to }) => `${clockOf(from)}–${clockOf(to)}`).join(', ') || 'stopped'}</small>
          </li>
        )
      })}
    </ul>
  )
}
