import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { advanced, advancedOf, hasAdvanced, type KindWithAdvanced } from '../../api/advanced.ts'
import { services } from '../../api/reads.ts'
import { Page } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import { OutOfDate } from '../OutOfDate.tsx'
import { ServiceTabs } from '../ServiceTabs.tsx'
import { AdvancedSettings } from './AdvancedSettings.tsx'

/** The advanced settings of a service. */
export function ServiceAdvancedPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/advanced',
  })
  const { environmentId, kind, serviceId } = params
  const { data: list } = useSuspenseQuery(services(environmentId))
  const service = list.find(({ id }) => id === serviceId)
  if (!service || !hasAdvanced(kind)) return <Missing />
  return (
    <Page title={service.name}>
      <ServiceTabs {...params} />
      <OutOfDate {...{ environmentId, serviceId }} />
      <Settings key={serviceId} {...{ environmentId, kind, serviceId }} />
    </Page>
  )
}

interface SettingsProps {
  readonly environmentId: string
  readonly kind: KindWithAdvanced
  readonly serviceId: string
}

function Settings({ environmentId, kind, serviceId }: SettingsProps) {
  const { data } = useSuspenseQuery(advanced(environmentId, kind, serviceId))
  return (
    <AdvancedSettings
      {...data}
      save={(settings) => advancedOf[kind].edit(serviceId, settings)}
      makesOld={['environment', environmentId]}
    />
  )
}
