import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { services } from '../api/reads.ts'
import { hasRestrictions } from '../api/restrictions.ts'
import { hasRepository } from '../api/service-commits.ts'
import { DeleteService } from './DeleteService.tsx'
import { Missing } from './Failed.tsx'
import { Restrictions } from './Restrictions.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import { ServiceSettings } from './ServiceSettings.tsx'
import { CopyService } from './service/CopyService.tsx'
import { PushStatus } from './service/PushStatus.tsx'
import { ServiceTerraform } from './terraform/ServiceTerraform.tsx'

/** The settings of a service, and its end. */
export function ServiceSettingsPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/settings',
  })
  const { data: list } = useSuspenseQuery(services(params.environmentId))
  const service = list.find(({ id }) => id === params.serviceId)
  if (!service) return <Missing />
  return (
    <ServiceFrame params={params}>
      {() => (
        <>
          <ServiceSettings key={params.serviceId} {...params} service={service} />
          {hasRepository(service) && <PushStatus {...params} />}
          {hasRestrictions(params.kind) && <Restrictions {...params} kind={params.kind} />}
          <CopyService params={params} name={service.name} />
          <ServiceTerraform environmentId={params.environmentId} kind={params.kind} name={service.name} />
          <DeleteService {...params} service={service} />
        </>
      )}
    </ServiceFrame>
  )
}
