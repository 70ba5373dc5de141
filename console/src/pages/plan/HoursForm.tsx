import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { Rule } from '../../api/reads-plan.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { CheckField, TextField } from '../../ui/Field.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import styles from './Plan.module.css'
import { Week } from './Week.tsx'
import { apiTimeOf, clockOf, weekdays } from './week.ts'

interface HoursFormProps {
  readonly environmentId: string
  readonly rule: Rule
}

/** The hours at which an environment runs, drawn as a week while they are changed. */
export function HoursForm({ environmentId, rule }: HoursFormProps) {
  const [values, setValues] = useState(() => valuesOf(rule))
  const set = (change: Partial<typeof values>): void => setValues({ ...values, ...change })
  const { start, stop, days, ...rest } = values
  const save = useChange({
    change: () =>
      api.editEnvironmentDeploymentRule({
        environmentId,
        deploymentRuleId: rule.id,
        body: { ...rest, start_time: apiTimeOf(start), stop_time: apiTimeOf(stop), weekdays: [...days] },
      }),
    makesOld: ['environment', environmentId],
  })
  const isSame = JSON.stringify(values) === JSON.stringify(valuesOf(rule))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSame && !save.isPending) save.mutate()
      }}
    >
      <CheckField
        label="Stop the services outside of these hours"
        isChecked={values.auto_stop}
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
          value={values.timezone}
          onChange={(timezone) => set({ timezone })}
          placeholder="Europe/Paris"
          isRequired
        />
      </div>
      <Problem error={save.error} />
      <div className={styles['actions']}>
        <Button
          type="submit"
          look="main"
          refusal={useMay()('editEnvironmentDeploymentRule') ?? (isSame ? 'nothing is changed' : undefined)}
          isBusy={save.isPending}
        >
          Save the hours
        </Button>
        {!isSame && <AsCurl preview={() => save.preview()} />}
        <span role="status">{isSame && save.isSuccess && 'Saved.'}</span>
      </div>
    </form>
  )
}

const valuesOf = ({ auto_stop, timezone, start_time, stop_time, weekdays: days }: Rule) => ({
  auto_stop,
  timezone,
  start: clockOf(start_time),
  stop: clockOf(stop_time),
  days,
})
