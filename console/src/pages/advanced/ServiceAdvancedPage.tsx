import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { advanced, advancedOf, hasAdvanced, type KindWithAdvanced } from '../../api/advanced.ts'
import { Missing } from '../Failed.tsx'
import { ServiceFrame } from '../ServiceFrame.tsx'
import { useMay } from '../use-may.ts'
import { AdvancedSettings } from './AdvancedSettings.tsx'

/** The advanced settings of a service. */
export function ServiceAdvancedPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/advanced',
  })
  const { environmentId, kind, serviceId } = params
  if (!hasAdvanced(kind)) return <Missing />
  return (
    <ServiceFrame params={params}>
      {() => <Settings key={serviceId} {...{ environmentId, kind, serviceId }} />}
    </ServiceFrame>
  )
}

interface SettingsProps {
  readonly environmentId: string
  readonly kind: KindWithAdvanced
  readonly serviceId: string
}

function Settings({ environmentId, kind, serviceId }: SettingsProps) {
  const forbidden = useMay()('editAdvancedSettings')
  const { data } = useSuspenseQuery(advanced(environmentId, kind, serviceId))
  return (
    <AdvancedSettings
      {...data}
      save={(settings) => advancedOf[kind].edit(serviceId, settings)}
      makesOld={['environment', environmentId]}
      forbidden={forbidden}
    />
  )
}
