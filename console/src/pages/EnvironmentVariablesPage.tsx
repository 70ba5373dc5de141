import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { environment } from '../api/reads.ts'
import { Page } from '../ui/Page.tsx'
import { OutOfDate } from './OutOfDate.tsx'
import { Variables } from './Variables.tsx'

/** The variables of an environment, which all of its services see. */
export function EnvironmentVariablesPage() {
  const { organizationId, environmentId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/variables',
  })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  return (
    <Page title={`Variables of ${about.name}`}>
      <p>
        Every service of the{' '}
        <Link
          to="/organizations/$organizationId/environments/$environmentId"
          params={{ organizationId, environmentId }}
        >
          environment
        </Link>{' '}
        sees them. Changes take effect at the next deployment.
      </p>
      <OutOfDate environmentId={environmentId} />
      <Variables place={{ scope: 'ENVIRONMENT', parentId: environmentId }} />
    </Page>
  )
}
