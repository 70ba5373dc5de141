import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ServicePlace } from '../api/follow-lines.ts'
import { environment, services, stageNames, stages } from '../api/reads.ts'
import { type ServiceRow, stageRows } from '../api/stage-rows.ts'
import { Page } from '../ui/Page.tsx'
import { State } from '../ui/State.tsx'
import { Missing } from './Failed.tsx'
import { OutOfDate } from './OutOfDate.tsx'
import { ServiceActions } from './ServiceActions.tsx'
import { type ServiceParams, ServiceTabs } from './ServiceTabs.tsx'
import { CanaryStep } from './service/CanaryStep.tsx'

interface ServiceFrameProps {
  readonly params: ServiceParams
  /** `place` names the service in a stream. */
  readonly children: (service: ServiceRow, place: ServicePlace) => ReactNode
}

/** The frame of every page of a service: where it is, its state, its actions and its pages. */
export function ServiceFrame({ params, children }: ServiceFrameProps) {
  const { organizationId, environmentId, kind, serviceId } = params
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const row = stageRows(statuses, names, list)
    .flatMap((stage) => stage.services)
    .find(({ id }) => id === serviceId)
  if (!row) return <Missing />
  const way = (
    <>
      <Link to="/organizations/$organizationId" params={{ organizationId }}>
        Projects
      </Link>
      <Link to="/organizations/$organizationId/environments/$environmentId" params={{ organizationId, environmentId }}>
        {about.name}
      </Link>
    </>
  )
  const place = {
    organization: organizationId,
    cluster: about.cluster_id,
    project: about.project.id,
    environment: environmentId,
    service: serviceId,
  }
  return (
    <Page
      title={row.name}
      above={way}
      beside={<State state={row.status.state} />}
      actions={<ServiceActions {...{ kind, serviceId, status: row.status }} />}
    >
      <ServiceTabs {...params} />
      <CanaryStep {...{ environmentId, kind, serviceId, state: row.status.state }} />
      <OutOfDate environmentId={environmentId} serviceId={serviceId} />
      {children(row, place)}
    </Page>
  )
}
