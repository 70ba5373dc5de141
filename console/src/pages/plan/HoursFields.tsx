import type { Rule } from '../../api/reads-plan.ts'
import { CheckField, TextField } from '../../ui/Field.tsx'
import styles from './Plan.module.css'
import { Week } from './Week.tsx'
import { apiTimeOf, clockOf, type Weekday, weekdays } from './week.ts'

/** Running hours while a form edits them. */
export interface Hours {
  readonly auto_stop: boolean
  readonly timezone: string
  readonly start: string
  readonly stop: string
  readonly days: readonly Weekday[]
}

type Sent = Pick<Rule, 'auto_stop' | 'timezone' | 'start_time' | 'stop_time' | 'weekdays'>

/** Pure: the hours of a rule, as a form has them. */
export const hoursIn = ({ auto_stop, timezone, start_time, stop_time, weekdays: days }: Sent): Hours => ({
  auto_stop,
  timezone,
  start: clockOf(start_time),
  stop: clockOf(stop_time),
  days,
})

/** Pure: hours as the API has them. */
export const hoursBody = ({ start, stop, days, ...rest }: Hours) => ({
  ...rest,
  start_time: apiTimeOf(start),
  stop_time: apiTimeOf(stop),
  weekdays: [...days],
})

interface HoursFieldsProps {
  readonly hours: Hours
  readonly onChange: (hours: Hours) => void
}

/** The fields of running hours, drawn as a week while they are changed. */
export function HoursFields({ hours, onChange }: HoursFieldsProps) {
  const { days, start, stop } = hours
  const set = (change: Partial<Hours>): void => onChange({ ...hours, ...change })
  return (
    <>
      <CheckField
        label="Stop the services outside of these hours"
        isChecked={hours.auto_stop}
        onChange={(auto_stop) => set({ auto_stop })}
      />
      <Week {...{ days, start, stop }} />
      <fieldset className={styles['days']}>
        <legend>Days on which the services start</legend>
        {weekdays.map((day) => (
          <CheckField
            key={day}
            label={day.slice(0, 1) + day.slice(1).toLowerCase()}
            isChecked={days.includes(day)}
            onChange={(isOn) => set({ days: weekdays.filter((one) => (one === day ? isOn : days.includes(one))) })}
          />
        ))}
      </fieldset>
      <div className={styles['times']}>
        <TextField label="Start" type="time" value={start} onChange={(next) => set({ start: next })} isRequired />
        <TextField label="Stop" type="time" value={stop} onChange={(next) => set({ stop: next })} isRequired />
        <TextField
          label="Time zone"
          value={hours.timezone}
          onChange={(timezone) => set({ timezone })}
          placeholder="Europe/Paris"
          isRequired
        />
      </div>
    </>
  )
}
