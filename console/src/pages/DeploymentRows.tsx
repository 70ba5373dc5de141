import { Link } from '@tanstack/react-router'
import { beganVersion, type HistoryEntry, versionBefore, versionOf } from '../api/history-rows.ts'
import { operationOf } from '../api/rights.ts'
import { Button } from '../ui/Button.tsx'
import { secondsOf } from '../ui/duration.ts'
import { Reason } from '../ui/Reason.tsx'
import { State, wordsOf } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { exactTime, When } from '../ui/When.tsx'
import styles from './DeploymentRows.module.css'
import type { ServiceParams } from './ServiceTabs.tsx'
import { useMay } from './use-may.ts'

const columns = ['When', 'Action', 'State', 'Version', 'By', 'Duration', 'Actions']
const noVersion = 'it started no version'

interface DeploymentRowsProps {
  readonly params: ServiceParams
  readonly history: readonly HistoryEntry[]
  readonly onCompare: (entry: HistoryEntry) => void
  readonly onRollback: (entry: HistoryEntry) => void
}

/** The last deployments of a service, newest first. */
export function DeploymentRows({ params, history, onCompare, onRollback }: DeploymentRowsProps) {
  const forbidden = useMay()(operationOf('deploy', params.kind))
  return (
    <Table label="Deployments" columns={columns}>
      {history.map((entry) => {
        const { identifier, auditing_data: audit, status_details, reason, details, total_duration } = entry
        const hasVersion = beganVersion(entry)
        const at = exactTime(audit.created_at)
        const first = versionBefore(history, identifier.execution_id) ? undefined : 'there is no version before it'
        return (
          <tr key={identifier.execution_id}>
            <td>
              <When at={audit.created_at} />
            </td>
            <td>{wordsOf(status_details.action)}</td>
            <td>
              <State state={outcomeOf(entry)} />
              <Reason text={reason} />
            </td>
            <td>{versionOf(details)}</td>
            <td>{audit.triggered_by}</td>
            <td>{total_duration && secondsOf(total_duration)}</td>
            <td className={styles['actions']}>
              <Link
                to="/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/lines"
                params={params}
                search={{ deployment: identifier.execution_id }}
                aria-label={`Lines of the deployment of ${at}`}
              >
                Lines
              </Link>
              <Button
                label={`Changes of the deployment of ${at}`}
                refusal={hasVersion ? first : noVersion}
                onClick={() => onCompare(entry)}
              >
                Changes
              </Button>
              <Button
                label={`Roll back to the deployment of ${at}`}
                refusal={forbidden ?? (hasVersion ? undefined : noVersion)}
                onClick={() => onRollback(entry)}
              >
                Roll back …
              </Button>
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

/** Pure: the end of a deployment. A service that was cancelled has its state of before. */
const outcomeOf = ({ status, status_details }: HistoryEntry) =>
  status_details.status === 'CANCELED' ? 'CANCELED' : status
