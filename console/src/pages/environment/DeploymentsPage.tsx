import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { environment, stages } from '../../api/reads.ts'
import { DeploymentLines } from '../DeploymentLines.tsx'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'
import { EnvironmentHistory } from './EnvironmentHistory.tsx'

/** The deployments of an environment, and the lines of the last one. */
export function DeploymentsPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/deployments' })
  const { organizationId, environmentId } = params
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  return (
    <EnvironmentFrame params={params}>
      <EnvironmentHistory environmentId={environmentId} />
      {statuses.environment.last_deployment_date && (
        <DeploymentLines organization={organizationId} project={about.project.id} environment={environmentId} />
      )}
    </EnvironmentFrame>
  )
}
