import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type StackPlace, type StackRun, stackPlan } from '../../api/reads-stacks.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { countWords } from '../../ui/plan-words.ts'
import { State, wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { PlanView } from './PlanView.tsx'
import styles from './Stacks.module.css'

interface StackRunsProps {
  readonly place: StackPlace
  readonly runs: readonly StackRun[]
}

/** The runs of a stack, newest first. The plan of each is in a dialog. */
export function StackRuns({ place, runs }: StackRunsProps) {
  const [shown, setShown] = useState<StackRun>()
  if (runs.length === 0) return <Empty>It has not run yet. A deployment makes a plan and applies it.</Empty>
  return (
    <>
      <Table label="Runs" columns={['Run', 'State', 'Started', 'Plan']}>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>{wordsOf(run.action)}</td>
            <td className={styles['values']}>
              <State state={run.status} />
              {run.reason && <div>{run.reason}</div>}
            </td>
            <td>
              <When at={run.created_at} />
            </td>
            <td>{run.counts && <Button onClick={() => setShown(run)}>{countWords(run.counts)}</Button>}</td>
          </tr>
        ))}
      </Table>
      {shown && (
        <PlainDialog title={`Plan of the run “${wordsOf(shown.action)}”`} onClose={() => setShown(undefined)}>
          <PlanOf {...{ place, runId: shown.id }} />
        </PlainDialog>
      )}
    </>
  )
}

function PlanOf({ place, runId }: { readonly place: StackPlace; readonly runId: string }) {
  const { data, error } = useQuery(stackPlan(place, runId))
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  return <PlanView plan={data} />
}
