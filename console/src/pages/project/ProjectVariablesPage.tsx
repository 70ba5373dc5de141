import { useParams } from '@tanstack/react-router'
import { Variables } from '../Variables.tsx'
import { ProjectFrame } from './ProjectFrame.tsx'

/** The variables of a project, which all of its environments see. */
export function ProjectVariablesPage() {
  const params = useParams({ from: '/organizations/$organizationId/projects/$projectId/variables' })
  return (
    <ProjectFrame params={params}>
      {({ id }) => (
        <>
          <p>Every environment of the project sees them. Changes take effect at the next deployment.</p>
          <Variables place={{ scope: 'PROJECT', parentId: id }} />
        </>
      )}
    </ProjectFrame>
  )
}
