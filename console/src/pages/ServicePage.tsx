import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { links } from '../api/reads.ts'
import { Notice } from '../ui/Notice.tsx'
import { Section } from '../ui/Page.tsx'
import { Replicas } from './Replicas.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import { ServiceHistory } from './ServiceHistory.tsx'
import { ServiceLines } from './ServiceLines.tsx'
import styles from './ServicePage.module.css'
import { ServiceSummary } from './ServiceSummary.tsx'
import { ChartServices } from './service/ChartServices.tsx'
import { DatabaseConnection } from './service/DatabaseConnection.tsx'

/** A service: its state in words, its addresses, its replicas, its deployments and its lines. */
export function ServicePage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
  })
  const { environmentId, kind, serviceId } = params
  return (
    <ServiceFrame params={params}>
      {(row, place) => (
        <>
          {row.status.service_deployment_status === 'NEVER_DEPLOYED' && row.status.state === 'READY' && (
            <Notice>It is not deployed yet. Press Deploy, and it runs in a moment.</Notice>
          )}
          <ServiceSummary params={params} row={row} />
          <Addresses environmentId={environmentId} serviceId={serviceId} />
          {kind === 'database' && <DatabaseConnection databaseId={serviceId} />}
          {kind === 'helm' && <ChartServices environmentId={environmentId} helmId={serviceId} />}
          <Replicas place={place} />
          <ServiceHistory {...{ environmentId, kind, serviceId }} />
          <ServiceLines params={params} place={place} />
        </>
      )}
    </ServiceFrame>
  )
}

interface AddressesProps {
  readonly environmentId: string
  readonly serviceId: string
}

function Addresses({ environmentId, serviceId }: AddressesProps) {
  const { data } = useSuspenseQuery(links(environmentId))
  const urls = data.filter(({ service_id }) => service_id === serviceId)
  if (urls.length === 0) return null
  return (
    <Section title="Addresses">
      <ul className={styles['addresses']}>
        {urls.map(({ url }) => (
          <li key={url}>
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
          </li>
        ))}
      </ul>
    </Section>
  )
}
