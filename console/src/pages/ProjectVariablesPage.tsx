import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { projects } from '../api/reads.ts'
import { Page } from '../ui/Page.tsx'
import { Missing } from './Failed.tsx'
import { Variables } from './Variables.tsx'

/** The variables of a project, which all of its environments see. */
export function ProjectVariablesPage() {
  const { organizationId, projectId } = useParams({
    from: '/organizations/$organizationId/projects/$projectId/variables',
  })
  const { data } = useSuspenseQuery(projects(organizationId))
  const project = data.find(({ id }) => id === projectId)
  if (!project) return <Missing />
  return (
    <Page title={`Variables of ${project.name}`}>
      <p>
        Every environment of the{' '}
        <Link to="/organizations/$organizationId" params={{ organizationId }}>
          project
        </Link>{' '}
        sees them. Changes take effect at the next deployment.
      </p>
      <Variables place={{ scope: 'PROJECT', parentId: projectId }} />
    </Page>
  )
}
