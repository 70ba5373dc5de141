import { useSuspenseQuery } from '@tanstack/react-query'
import { type ClusterLine, clusterLines, operationsOf } from '../../api/reads-clusters.ts'
import { Empty } from '../../ui/Page.tsx'
import { State } from '../../ui/State.tsx'
import { exactTime, When } from '../../ui/When.tsx'
import styles from './Clusters.module.css'

interface ClusterLinesProps {
  readonly organizationId: string
  readonly clusterId: string
  readonly isPassing: boolean
}

/** The lines of the last operation, one by one, and those of operations before it. */
export function ClusterLines({ organizationId, clusterId, isPassing }: ClusterLinesProps) {
  const { data } = useSuspenseQuery(clusterLines(organizationId, clusterId, isPassing))
  const [last, ...older] = operationsOf(data)
  if (!last) return <Empty>Nothing was checked yet. Press Check: it changes nothing.</Empty>
  return (
    <>
      <div aria-live="polite">
        <Lines lines={last.lines} isPassing={isPassing} />
      </div>
      {older.length > 0 && (
        <details className={styles['older']}>
          <summary>{older.length === 1 ? 'The operation before' : `The ${older.length} operations before`}</summary>
          {older.map(({ at, lines }) => (
            <section key={at} className={styles['older']} aria-label={exactTime(at)}>
              <p className={styles['quiet']}>
                <When at={at} />
              </p>
              <Lines lines={lines} isPassing={false} />
            </section>
          ))}
        </details>
      )}
    </>
  )
}

function Lines({ lines, isPassing }: { readonly lines: readonly ClusterLine[]; readonly isPassing: boolean }) {
  return (
    <ol className={styles['checks']}>
      {lines.map(({ timestamp, error, message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines are only added, and two may be the same
        <li key={index}>
          <time dateTime={timestamp} title={exactTime(timestamp)} className={styles['quiet']}>
            {new Date(timestamp).toLocaleTimeString('en-GB')}
          </time>
          {error ? (
            <span>
              <State state="ERROR" /> {error.user_log_message}
            </span>
          ) : (
            <span>{message?.safe_message}</span>
          )}
        </li>
      ))}
      {isPassing && (
        <li>
          <span />
          <State state="ONGOING" />
        </li>
      )}
    </ol>
  )
}
