import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { ServicePlace } from '../../api/follow-lines.ts'
import { isActive, type JobPlace, type JobRun } from '../../api/reads-jobs.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { State } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { eventWords } from './JobActions.tsx'
import styles from './Jobs.module.css'
import { RunLines } from './RunLines.tsx'

const columns = ['Run', 'State', 'Exit code', 'Duration', 'Actions']
const triggers = { CRON: '', FORCED: 'run by a person: ', DEPLOYMENT: '' } as const

interface JobRunsProps {
  readonly runs: readonly JobRun[]
  readonly place: JobPlace
  readonly logs: ServicePlace
}

/** The runs of a job, newest first, with the lines of each. */
export function JobRuns({ runs, place, logs }: JobRunsProps) {
  const [shown, setShown] = useState<JobRun>()
  const makesOld = ['environment', place.environmentId]
  const cancel = useChange({
    change: ({ id, trigger }: JobRun): Promise<unknown> =>
      trigger === 'CRON'
        ? api.cancelJobRun({ jobId: place.serviceId, jobRunId: id })
        : api.cancelEnvironmentDeployment({ environmentId: place.environmentId }),
    makesOld,
  })
  const may = useMay()
  if (runs.length === 0) return <Empty>It has not run yet.</Empty>
  return (
    <>
      <Problem error={cancel.error} />
      <Table label="Runs" columns={columns}>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <When at={run.scheduled_at ?? run.created_at} />
              <div className={styles['quiet']}>
                {triggers[run.trigger]}
                {eventWords[run.event]}
              </div>
            </td>
            <td className={styles['reason']}>
              <State state={run.status} />
              {run.reason && <pre>{run.reason}</pre>}
            </td>
            <td>{run.exit_code ?? '–'}</td>
            <td>
              {run.duration_sec === null ? '–' : `${run.duration_sec} s`}
              {run.tries > 1 && <div className={styles['quiet']}>{run.tries} tries</div>}
            </td>
            <td>
              <div className={styles['row']}>
                <Button onClick={() => setShown(run)}>Lines</Button>
                <Button
                  refusal={may('cancelJobRun') ?? (isActive(run) ? undefined : 'it has ended')}
                  isBusy={cancel.isPending && cancel.variables.id === run.id}
                  onClick={() => cancel.mutate(run)}
                >
                  Cancel
                </Button>
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {shown && <RunLines run={shown} logs={logs} onClose={() => setShown(undefined)} />}
    </>
  )
}
