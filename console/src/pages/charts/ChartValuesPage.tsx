import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { services } from '../../api/reads.ts'
import { Section } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import { ServiceFrame } from '../ServiceFrame.tsx'
import { ChartDifference } from './ChartDifference.tsx'
import { ChartValuesForm } from './ChartValuesForm.tsx'
import { DefaultValues } from './DefaultValues.tsx'

/** The values of a chart, the defaults of its author, and the effect of a deployment. */
export function ChartValuesPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/values',
  })
  const { organizationId, environmentId, serviceId } = params
  const { data: list } = useSuspenseQuery(services(environmentId))
  const chart = list.find(({ id }) => id === serviceId)
  if (chart?.service_type !== 'HELM') return <Missing />
  return (
    <ServiceFrame params={params}>
      {(_, place) => (
        <>
          <Section title="Values of this service">
            <ChartValuesForm key={serviceId} {...{ organizationId, environmentId, chart }} />
          </Section>
          <Section title="Default values of the chart">
            <DefaultValues {...{ environmentId, chart }} />
          </Section>
          <ChartDifference environmentId={environmentId} chartId={serviceId} place={place} />
        </>
      )}
    </ServiceFrame>
  )
}
