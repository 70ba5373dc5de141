import { useSuspenseQuery } from '@tanstack/react-query'
import { lastVersion, versionOf } from '../api/history-rows.ts'
import { kinds } from '../api/kinds.ts'
import { serviceHistory } from '../api/reads-history.ts'
import type { ServiceRow } from '../api/stage-rows.ts'
import { When } from '../ui/When.tsx'
import styles from './ServicePage.module.css'
import type { ServiceParams } from './ServiceTabs.tsx'

/** The kind of a service, its running version, and the reason of its state, in words. */
export function ServiceSummary({ params, row }: { readonly params: ServiceParams; readonly row: ServiceRow }) {
  const { environmentId, kind, serviceId } = params
  const { results: data } = useSuspenseQuery(serviceHistory(environmentId, kind, serviceId)).data
  const { status } = row
  const last = lastVersion(data)
  const isStopped = status.state === 'STOPPED' || status.state === 'DELETED'
  return (
    <>
      <p>
        {kinds[kind].noun}
        {last && (
          <>
            {isStopped ? '. The last version was ' : '. It runs '}
            <strong>{versionOf(last.details) || 'its settings'}</strong>, deployed{' '}
            <When at={last.auditing_data.created_at} /> by {last.auditing_data.triggered_by}.
          </>
        )}
      </p>
      {status.reason && <p className={styles['reason']}>{status.reason}</p>}
    </>
  )
}
