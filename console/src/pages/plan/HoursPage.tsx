import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { deploymentRule } from '../../api/reads-plan.ts'
import { Section } from '../../ui/Page.tsx'
import { EnvironmentFrame } from '../environment/EnvironmentFrame.tsx'
import { HoursForm } from './HoursForm.tsx'

/** The hours at which an environment runs. */
export function HoursPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/hours' })
  const { environmentId } = params
  const { data: rule } = useSuspenseQuery(deploymentRule(environmentId))
  return (
    <EnvironmentFrame params={params}>
      <Section title="Running hours">
        <HoursForm {...{ environmentId, rule }} />
      </Section>
    </EnvironmentFrame>
  )
}
