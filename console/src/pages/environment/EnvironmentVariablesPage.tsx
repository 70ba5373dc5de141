import { useParams } from '@tanstack/react-router'
import { OutOfDate } from '../OutOfDate.tsx'
import { Variables } from '../Variables.tsx'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'

/** The variables of an environment, which all of its services see. */
export function EnvironmentVariablesPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/variables' })
  const { environmentId } = params
  return (
    <EnvironmentFrame params={params}>
      <p>Every service of the environment sees them. Changes take effect at the next deployment.</p>
      <OutOfDate environmentId={environmentId} />
      <Variables place={{ scope: 'ENVIRONMENT', parentId: environmentId }} />
    </EnvironmentFrame>
  )
}
