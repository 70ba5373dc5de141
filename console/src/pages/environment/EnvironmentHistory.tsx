import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { environmentHistory } from '../../api/reads.ts'
import { Button } from '../../ui/Button.tsx'
import { secondsOf } from '../../ui/duration.ts'
import { Empty, Section } from '../../ui/Page.tsx'
import { State, wordsOf } from '../../ui/State.tsx'
import { relativeTime } from '../../ui/time.ts'
import styles from './EnvironmentHistory.module.css'

const shownAtFirst = 3

/** The last deployments of an environment, each as a pipeline of its stages. */
export function EnvironmentHistory({ environmentId }: { readonly environmentId: string }) {
  const { data } = useSuspenseQuery(environmentHistory(environmentId))
  const [isWhole, setWhole] = useState(false)
  const now = Date.now()
  return (
    <Section title="Deployments">
      {data.length === 0 && <Empty>It was never deployed.</Empty>}
      {data
        .slice(0, isWhole ? undefined : shownAtFirst)
        .map(({ identifier, auditing_data: audit, action_status, trigger_action, total_duration, stages }) => (
          <article key={identifier.execution_id} className={styles['deployment']}>
            <header className={styles['about']}>
              <State state={action_status} />
              <span>
                {wordsOf(trigger_action)} by {audit.triggered_by},{' '}
                <time dateTime={audit.created_at}>{relativeTime(audit.created_at, now)}</time>
              </span>
              <span>{total_duration && secondsOf(total_duration)}</span>
            </header>
            <ol className={styles['pipeline']}>
              {stages.map((stage) => (
                <li key={stage.name} data-status={stage.status}>
                  <div className={styles['stage']}>
                    {stage.name} {stage.duration && <small>{secondsOf(stage.duration)}</small>}
                  </div>
                  <ul>
                    {stage.services.map(({ identifier: service, status, reason }) => (
                      <li key={service.service_id}>
                        {service.name} <State state={status} />
                        {reason && <div className={styles['reason']}>{reason}</div>}
                      </li>
                    ))}
                  </ul>
                </li>
              ))}
            </ol>
          </article>
        ))}
      {data.length > shownAtFirst && (
        <Button onClick={() => setWhole(!isWhole)}>{isWhole ? 'Show fewer' : `Show all ${data.length}`}</Button>
      )}
    </Section>
  )
}
