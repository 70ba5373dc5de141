import { useEffect, useState } from 'react'
import { followDeploymentLines } from '../api/follow-lines.ts'
import { LineStore } from '../api/line-store.ts'
import { Lines } from '../ui/Lines.tsx'
import { Section } from '../ui/Page.tsx'

interface DeploymentLinesProps {
  readonly organization: string
  readonly project: string
  readonly environment: string
}

/** The lines of the last deployment of an environment, as they come. */
export function DeploymentLines({ organization, project, environment }: DeploymentLinesProps) {
  const [store] = useState(() => new LineStore((work) => void requestAnimationFrame(work)))
  useEffect(
    () => followDeploymentLines(store, { organization, project, environment }),
    [store, organization, project, environment],
  )
  return (
    <Section title="Lines of the last deployment">
      <Lines store={store} label="Lines of the last deployment" />
    </Section>
  )
}
