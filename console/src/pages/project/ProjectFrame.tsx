import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { projects } from '../../api/reads.ts'
import { Page } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import styles from '../ServiceTabs.module.css'

/** The address of a page of a project. */
export interface ProjectParams {
  readonly organizationId: string
  readonly projectId: string
}

type Project = NonNullable<ReturnType<typeof useProject>>

interface ProjectFrameProps {
  readonly params: ProjectParams
  readonly children: (project: Project) => ReactNode
}

const place = '/organizations/$organizationId/projects/$projectId'
const tabs = [
  { to: `${place}/variables`, label: 'Variables' },
  { to: `${place}/rules`, label: 'Rules' },
  { to: `${place}/settings`, label: 'Settings' },
] as const

function useProject({ organizationId, projectId }: ProjectParams) {
  const { data } = useSuspenseQuery(projects(organizationId))
  return data.find(({ id }) => id === projectId)
}

/** The frame of every page of a project. */
export function ProjectFrame({ params, children }: ProjectFrameProps) {
  const project = useProject(params)
  if (!project) return <Missing />
  const way = (
    <Link to="/organizations/$organizationId" params={params}>
      Projects
    </Link>
  )
  return (
    <Page title={project.name} above={way} beside={<span>{project.description}</span>}>
      <nav className={styles['tabs']} aria-label="Project">
        {tabs.map(({ to, label }) => (
          <Link key={to} to={to} params={params}>
            {label}
          </Link>
        ))}
      </nav>
      {children(project)}
    </Page>
  )
}
