import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { environment, services, stageNames } from '../../api/reads.ts'
import { deploymentRule } from '../../api/reads-plan.ts'
import { Button } from '../../ui/Button.tsx'
import { Page, Section } from '../../ui/Page.tsx'
import { useMay } from '../use-may.ts'
import { HoursForm } from './HoursForm.tsx'
import { NewStage } from './NewStage.tsx'
import { StageList } from './StageList.tsx'

/** The order in which an environment is deployed, and the hours at which it runs. */
export function PlanPage() {
  const { organizationId, environmentId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/stages',
  })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: stages } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: rule } = useSuspenseQuery(deploymentRule(environmentId))
  const [isOpen, setOpen] = useState(false)
  const newStage = (
    <Button refusal={useMay()('CreateEnvironmentDeploymentStage')} onClick={() => setOpen(true)}>
      New stage
    </Button>
  )
  return (
    <Page
      title={`Stages and hours of ${about.name}`}
      above={
        <Link
          to="/organizations/$organizationId/environments/$environmentId"
          params={{ organizationId, environmentId }}
        >
          {about.name}
        </Link>
      }
    >
      <Section title="Stages" actions={newStage}>
        <p>A deployment finishes a stage before it begins the next one. Drag stages and services to move them.</p>
        <StageList
          {...{ environmentId, stages }}
          nameOf={(id) => list.find((service) => service.id === id)?.name ?? 'a deleted service'}
        />
        {isOpen && <NewStage environmentId={environmentId} onClose={() => setOpen(false)} />}
      </Section>
      <Section title="Running hours">
        <HoursForm {...{ environmentId, rule }} />
      </Section>
    </Page>
  )
}
