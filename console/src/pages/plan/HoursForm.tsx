import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { Rule } from '../../api/reads-plan.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import { HoursFields, hoursBody, hoursIn } from './HoursFields.tsx'
import styles from './Plan.module.css'

interface HoursFormProps {
  readonly environmentId: string
  readonly rule: Rule
}

/** The hours at which an environment runs, drawn as a week while they are changed. */
export function HoursForm({ environmentId, rule }: HoursFormProps) {
  const [values, setValues] = useState(() => hoursIn(rule))
  const save = useChange({
    change: () =>
      api.editEnvironmentDeploymentRule({
        environmentId,
        deploymentRuleId: rule.id,
        body: hoursBody(values),
      }),
    makesOld: ['environment', environmentId],
  })
  const isSame = JSON.stringify(values) === JSON.stringify(hoursIn(rule))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isSame && !save.isPending) save.mutate()
      }}
    >
      <HoursFields hours={values} onChange={setValues} />
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
