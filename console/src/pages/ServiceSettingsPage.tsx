import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { services } from '../api/reads.ts'
import { Page } from '../ui/Page.tsx'
import { DeleteService } from './DeleteService.tsx'
import { Missing } from './Failed.tsx'
import { OutOfDate } from './OutOfDate.tsx'
import { ServiceSettings } from './ServiceSettings.tsx'
import { ServiceTabs } from './ServiceTabs.tsx'

/** The settings of a service, and its end. */
export function ServiceSettingsPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/settings',
  })
  const { environmentId, serviceId } = params
  const { data: list } = useSuspenseQuery(services(environmentId))
  const service = list.find(({ id }) => id === serviceId)
  if (!service) return <Missing />
  return (
    <Page title={service.name}>
      <ServiceTabs {...params} />
      <OutOfDate environmentId={environmentId} serviceId={serviceId} />
      <ServiceSettings key={serviceId} {...params} service={service} />
      <DeleteService {...params} service={service} />
    </Page>
  )
}
