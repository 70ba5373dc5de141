import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { services, stageNames } from '../../api/reads.ts'
import { Button } from '../../ui/Button.tsx'
import { Section } from '../../ui/Page.tsx'
import { EnvironmentFrame } from '../environment/EnvironmentFrame.tsx'
import { useMay } from '../use-may.ts'
import { StageForm } from './StageForm.tsx'
import { StageList } from './StageList.tsx'

/** The order in which an environment is deployed. */
export function PlanPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/stages' })
  const { environmentId } = params
  const { data: stages } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const [isOpen, setOpen] = useState(false)
  const newStage = (
    <Button refusal={useMay()('CreateEnvironmentDeploymentStage')} onClick={() => setOpen(true)}>
      New stage
    </Button>
  )
  return (
    <EnvironmentFrame params={params}>
      <Section title="Stages" actions={newStage}>
        <p>A deployment finishes a stage before it begins the next one. Drag stages and services to move them.</p>
        <StageList
          {...{ environmentId, stages }}
          nameOf={(id) => list.find((service) => service.id === id)?.name ?? 'a deleted service'}
        />
        {isOpen && <StageForm environmentId={environmentId} onClose={() => setOpen(false)} />}
      </Section>
    </EnvironmentFrame>
  )
}
