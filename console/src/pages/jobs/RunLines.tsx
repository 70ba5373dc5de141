import { useEffect, useState } from 'react'
import { followLines, type ServicePlace } from '../../api/follow-lines.ts'
import { LineStore } from '../../api/line-store.ts'
import type { JobRun } from '../../api/reads-jobs.ts'
import { Lines } from '../../ui/Lines.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { exactTime } from '../../ui/When.tsx'

interface RunLinesProps {
  readonly run: JobRun
  readonly logs: ServicePlace
  readonly onClose: () => void
}

/** The lines of one run, while it runs and afterwards. */
export function RunLines({ run, logs, onClose }: RunLinesProps) {
  const [store] = useState(() => new LineStore((work) => void requestAnimationFrame(work)))
  const { organization, cluster, project, environment, service } = logs
  useEffect(
    () => followLines(store, { place: { organization, cluster, project, environment, service, pod_name: run.id } }),
    [store, organization, cluster, project, environment, service, run.id],
  )
  return (
    <PlainDialog title={`Run of ${exactTime(run.scheduled_at ?? run.created_at)}`} onClose={onClose}>
      <Lines store={store} label="Lines of the run" />
    </PlainDialog>
  )
}
