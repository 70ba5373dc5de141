import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useSuspenseQuery } from '@tanstack/react-query'
import { versionOf } from '../api/history-rows.ts'
import { serviceHistory } from '../api/reads-history.ts'
import { secondsOf } from '../ui/duration.ts'
import { Empty, Section } from '../ui/Page.tsx'
import { State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { relativeTime } from '../ui/time.ts'

interface ServiceHistoryProps {
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
}

const columns = ['When', 'State', 'Version', 'By', 'Duration']

/** The last deployments of a service, newest first. */
export function ServiceHistory({ environmentId, kind, serviceId }: ServiceHistoryProps) {
  const { results: data } = useSuspenseQuery(serviceHistory(environmentId, kind, serviceId)).data
  const now = Date.now()
  return (
    <Section title="Deployments">
      {data.length === 0 ? (
        <Empty>It was never deployed.</Empty>
      ) : (
        <Table label="Deployments" columns={columns}>
          {data.map(({ identifier, auditing_data: audit, status, reason, details, total_duration }) => (
            <tr key={identifier.execution_id}>
              <td>
                <time dateTime={audit.created_at}>{relativeTime(audit.created_at, now)}</time>
              </td>
              <td>
                <State state={status} />
                {reason && <div>{reason}</div>}
              </td>
              <td>{versionOf(details)}</td>
              <td>{audit.triggered_by}</td>
              <td>{total_duration && secondsOf(total_duration)}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
