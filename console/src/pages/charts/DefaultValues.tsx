import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { api } from '../../api/client.ts'
import { defaultValues } from '../../api/reads-charts.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import styles from './Charts.module.css'

interface DefaultValuesProps {
  readonly environmentId: string
  readonly chart: Awaited<ReturnType<typeof api.getHelm>>
}

/** The file values.yaml of the chart, read from its repository when somebody wants to see it. */
export function DefaultValues({ environmentId, chart }: DefaultValuesProps) {
  const [isOpen, setOpen] = useState(false)
  if (!isOpen) return <Button onClick={() => setOpen(true)}>Show the default values</Button>
  return <ValuesFile {...{ environmentId, chart }} />
}

function ValuesFile({ environmentId, chart }: DefaultValuesProps) {
  const { data, error } = useQuery(defaultValues(environmentId, chart))
  if (error) return <Problem error={error} />
  if (data === undefined) return <p>Reading …</p>
  if (data === '') return <Empty>The chart has no file values.yaml.</Empty>
  return (
    <textarea readOnly rows={20} spellCheck={false} className={styles['file']} aria-label="values.yaml" value={data} />
  )
}
