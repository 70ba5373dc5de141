import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { services } from '../api/reads.ts'
import { scopeOf } from '../api/reads-variables.ts'
import { Page } from '../ui/Page.tsx'
import { Missing } from './Failed.tsx'
import { OutOfDate } from './OutOfDate.tsx'
import { ServiceTabs } from './ServiceTabs.tsx'
import { Variables } from './Variables.tsx'

/** The variables that a service sees. */
export function ServiceVariablesPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/variables',
  })
  const { environmentId, kind, serviceId } = params
  const { data: list } = useSuspenseQuery(services(environmentId))
  const service = list.find(({ id }) => id === serviceId)
  const scope = scopeOf[kind]
  if (!service || !scope) return <Missing />
  return (
    <Page title={service.name}>
      <ServiceTabs {...params} />
      <OutOfDate environmentId={environmentId} serviceId={serviceId} />
      <Variables place={{ scope, parentId: serviceId }} />
    </Page>
  )
}
