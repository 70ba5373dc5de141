import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { services } from '../../api/reads.ts'
import { Empty } from '../../ui/Page.tsx'
import { OutOfDate } from '../OutOfDate.tsx'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'
import { EnvironmentServices } from './EnvironmentServices.tsx'

/** The services of an environment by stage, with their states. */
export function EnvironmentPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId' })
  const { data: list } = useSuspenseQuery(services(params.environmentId))
  return (
    <EnvironmentFrame params={params}>
      <OutOfDate environmentId={params.environmentId} />
      {list.length > 0 ? (
        <EnvironmentServices />
      ) : (
        <Empty>
          There is no service in it yet.{' '}
          <Link to="/organizations/$organizationId/environments/$environmentId/new" params={params}>
            Add the first one
          </Link>
          : a repository, an image, a database, a job, a chart or a Terraform stack.
        </Empty>
      )}
    </EnvironmentFrame>
  )
}
