import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { healthOf } from '../../api/health.ts'
import { environment, project, services, stageNames, stages } from '../../api/reads.ts'
import { stageRows } from '../../api/stage-rows.ts'
import { Page } from '../../ui/Page.tsx'
import { State } from '../../ui/State.tsx'
import { EnvironmentActions } from './EnvironmentActions.tsx'
import styles from './EnvironmentFrame.module.css'
import { type EnvironmentParams, EnvironmentTabs } from './EnvironmentTabs.tsx'
import { InProgress } from './InProgress.tsx'

interface EnvironmentFrameProps {
  readonly params: EnvironmentParams
  readonly children: ReactNode
}

/** The frame of every page of an environment: state, current deployment, actions and pages. */
export function EnvironmentFrame({ params, children }: EnvironmentFrameProps) {
  const { organizationId, environmentId } = params
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: home } = useQuery(project(about.project.id))
  const rows = stageRows(statuses, names, list)
  const way = (
    <>
      <Link to="/organizations/$organizationId" params={{ organizationId }}>
        Projects
      </Link>
      <Link
        to="/organizations/$organizationId/projects/$projectId/variables"
        params={{ organizationId, projectId: about.project.id }}
      >
        {home?.name ?? 'Project'}
      </Link>
    </>
  )
  const beside = (
    <>
      <span className={styles['mode']} data-mode={about.mode}>
        {about.mode.toLowerCase()}
      </span>
      <State state={statuses.environment.state} />
      <span className={styles['health']}>{healthOf(rows.flatMap((stage) => stage.services))}</span>
    </>
  )
  return (
    <Page
      title={about.name}
      above={way}
      beside={beside}
      actions={<EnvironmentActions {...{ params, rows }} name={about.name} state={statuses.environment.state} />}
    >
      {statuses.environment.deployment_request_id !== null && <InProgress params={params} />}
      <EnvironmentTabs {...params} />
      {children}
    </Page>
  )
}
