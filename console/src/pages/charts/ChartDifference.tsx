import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { type ChartDiff, changeCounts, changedObjects, newestDiff } from '../../api/reads-charts.ts'
import { Button } from '../../ui/Button.tsx'
import { Notice } from '../../ui/Notice.tsx'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { countWords } from '../../ui/plan-words.ts'
import { When } from '../../ui/When.tsx'
import { DeploymentLines } from '../DeploymentLines.tsx'
import { Resources } from '../stacks/PlanView.tsx'
import { useMay } from '../use-may.ts'
import styles from './Charts.module.css'

interface ChartDifferenceProps {
  readonly environmentId: string
  readonly chartId: string
  readonly place: Parameters<typeof DeploymentLines>[0]
}

/** Shows what a deployment of a chart would change, object by object. It installs nothing. */
export function ChartDifference({ environmentId, chartId, place }: ChartDifferenceProps) {
  const { data: diff } = useQuery(newestDiff(environmentId, chartId))
  const [isRunning, setRunning] = useState(false)
  const compare = useChange({
    change: () => api.deployHelm({ helmId: chartId, query: { forceEvent: 'DIFF' }, body: {} }),
    makesOld: ['environment', environmentId],
    onDone: () => setRunning(true),
  })
  const button = (
    <Button refusal={useMay()('deployHelm')} onClick={() => compare.mutate()} isBusy={compare.isPending}>
      Compare now
    </Button>
  )
  return (
    <>
      <Section title="Difference" actions={button}>
        <Problem error={compare.error} />
        <p className={styles['quiet']}>
          A run compares the saved values with the installed version. It installs nothing.
        </p>
        {diff && <Difference diff={diff} />}
      </Section>
      {isRunning && <DeploymentLines {...place} />}
    </>
  )
}

function Difference({ diff }: { readonly diff: ChartDiff }) {
  return (
    <>
      {!diff.is_current && <Notice>Settings, variables or the installed version have changed since.</Notice>}
      <p>
        <When at={diff.created_at} />: {countWords(changeCounts(diff))}
      </p>
      <Resources resources={changedObjects(diff)} />
    </>
  )
}
