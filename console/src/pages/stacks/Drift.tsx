import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { aboutStack, driftPolicy, type StackPlace } from '../../api/reads-stacks.ts'
import { Button } from '../../ui/Button.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { State } from '../../ui/State.tsx'
import { When } from '../../ui/When.tsx'
import { TimetableForm } from '../TimetableForm.tsx'
import { TimetableWords } from '../TimetableWords.tsx'
import { useMay } from '../use-may.ts'

/** When a stack is checked for changes from outside, and the result of the last check. */
export function Drift({ place }: { readonly place: StackPlace }) {
  const { data, error } = useQuery(driftPolicy(place))
  const [isEditing, setEditing] = useState(false)
  const check = useChange({
    change: () => api.checkTerraformDrift({ terraformId: place.serviceId }),
    makesOld: aboutStack(place),
  })
  const may = useMay()
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  const { drifted_at: drifted, last_run: last } = data
  return (
    <>
      {drifted && (
        <Notice>
          <span>
            Something differs from the stack since <When at={drifted} />. A deployment would change it back.
          </span>
        </Notice>
      )}
      <TimetableWords policy={data} none="It is not checked for changes from outside." />
      {last && (
        <p>
          Last check: <State state={last.status} /> <When at={last.created_at} />
          {last.reason && `: ${last.reason}`}
        </p>
      )}
      <Problem error={check.error} />
      <Button
        refusal={may('checkTerraformDrift') ?? (last?.status === 'RUNNING' ? 'a check is in progress' : undefined)}
        isBusy={check.isPending}
        onClick={() => check.mutate()}
      >
        Check now
      </Button>{' '}
      <Button refusal={may('editTerraformDriftPolicy')} onClick={() => setEditing(true)}>
        Change the timetable of checks
      </Button>
      {isEditing && (
        <TimetableForm
          title="Timetable of checks"
          policy={data}
          save={(body) => api.editTerraformDriftPolicy({ terraformId: place.serviceId, body })}
          changes={aboutStack(place, 'drift')}
          onClose={() => setEditing(false)}
        />
      )}
    </>
  )
}
