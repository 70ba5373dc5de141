import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { isActive, type JobEvent, type JobPlace, type JobRun } from '../../api/reads-jobs.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField } from '../../ui/Field.tsx'
import { useMay } from '../use-may.ts'

export const eventWords: Readonly<Record<JobEvent, string>> = {
  CRON: 'the timetable',
  START: 'the start of the environment',
  STOP: 'the stop of the environment',
  DELETE: 'the deletion',
}

interface JobActionsProps {
  readonly place: JobPlace
  readonly runs: readonly JobRun[]
  readonly events: readonly JobEvent[]
}

/** Runs a job now, and removes its failed runs. */
export function JobActions({ place, runs, events }: JobActionsProps) {
  const [isAsking, setAsking] = useState(false)
  const makesOld = ['environment', place.environmentId]
  const clean = useChange({ change: () => api.cleanFailedJob({ jobId: place.serviceId }), makesOld })
  const failed = runs.some((run) => run.status === 'ERROR') ? undefined : 'no run has failed'
  const may = useMay()
  const noProgram = events.length === 0 ? 'it has no program to run' : undefined
  return (
    <>
      <Button onClick={() => clean.mutate()} isBusy={clean.isPending} refusal={may('cleanFailedJob') ?? failed}>
        Remove failed runs
      </Button>
      <Button look="main" onClick={() => setAsking(true)} refusal={may('deployJob') ?? noProgram}>
        Run now …
      </Button>
      {isAsking && <RunNow {...{ place, events }} isBusy={runs.some(isActive)} onClose={() => setAsking(false)} />}
    </>
  )
}

interface RunNowProps extends Omit<JobActionsProps, 'runs'> {
  readonly isBusy: boolean
  readonly onClose: () => void
}

function RunNow({ place, events, isBusy, onClose }: RunNowProps) {
  const [event, setEvent] = useState<JobEvent>(events[0] ?? 'START')
  const run = useChange({
    change: () => api.deployJob({ jobId: place.serviceId, query: { forceEvent: event }, body: {} }),
    makesOld: ['environment', place.environmentId],
    onDone: onClose,
  })
  return (
    <FormDialog
      title="Run the job now?"
      isOpen
      onClose={onClose}
      action="Run now"
      isBusy={run.isPending}
      error={run.error}
      onSubmit={() => run.mutate()}
      preview={() => run.preview()}
    >
      <p>It deploys the current version and runs its program once. {isBusy && 'A run is in progress.'}</p>
      <SelectField
        label="The program of"
        value={event}
        options={events.map((value) => ({ value, label: eventWords[value] }))}
        onChange={(value) => setEvent(events.find((one) => one === value) ?? event)}
      />
    </FormDialog>
  )
}
