import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { kinds } from '../api/kinds.ts'
import { links } from '../api/reads.ts'
import { Notice } from '../ui/Notice.tsx'
import { Section } from '../ui/Page.tsx'
import { relativeTime } from '../ui/time.ts'
import { ServiceFrame } from './ServiceFrame.tsx'
import { ServiceHistory } from './ServiceHistory.tsx'
import { ServiceLines } from './ServiceLines.tsx'
import styles from './ServicePage.module.css'

/** A service: its state in words, its addresses, its deployments and its lines. */
export function ServicePage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
  })
  const { environmentId, kind, serviceId } = params
  const { data: addresses } = useSuspenseQuery(links(environmentId))
  const urls = addresses.filter(({ service_id }) => service_id === serviceId)
  return (
    <ServiceFrame params={params}>
      {({ status }, place) => (
        <>
          {status.service_deployment_status === 'NEVER_DEPLOYED' && status.state === 'READY' && (
            <Notice>It is not deployed yet. Press Deploy, and it runs in a moment.</Notice>
          )}
          <p>
            {kinds[kind].noun}
            {status.last_deployment_date && `, deployed ${relativeTime(status.last_deployment_date, Date.now())}`}
          </p>
          {status.reason && <p className={styles['reason']}>{status.reason}</p>}
          {urls.length > 0 && <Addresses urls={urls.map(({ url }) => url)} />}
          <ServiceHistory {...{ environmentId, kind, serviceId }} />
          <ServiceLines params={params} place={place} />
        </>
      )}
    </ServiceFrame>
  )
}

const Addresses = ({ urls }: { readonly urls: readonly (string | undefined)[] }) => (
  <Section title="Addresses">
    <ul className={styles['addresses']}>
      {urls.map((url) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noreferrer">
            {url}
          </a>
        </li>
      ))}
    </ul>
  </Section>
)
