import { Link } from '@tanstack/react-router'
import { deploymentBefore, type EnvironmentDeployment, servicesIn } from '../../api/deployment-versions.ts'
import { Button } from '../../ui/Button.tsx'
import { secondsOf } from '../../ui/duration.ts'
import { State, wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { exactTime, When } from '../../ui/When.tsx'
import rows from '../DeploymentRows.module.css'
import { useMay } from '../use-may.ts'
import styles from './Deployments.module.css'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'

interface DeploymentTableProps {
  readonly params: EnvironmentParams
  readonly history: readonly EnvironmentDeployment[]
  /** The execution that is shown above. */
  readonly shown: string
  readonly onCompare: (from: string, to: string) => void
  readonly onRollback: (deployment: EnvironmentDeployment) => void
}

const columns = ['When', 'Action', 'State', 'Services', 'By', 'Duration', 'Actions']

/** The last deployments of an environment, newest first. */
export function DeploymentTable({ params, history, shown, onCompare, onRollback }: DeploymentTableProps) {
  const forbidden = useMay()('deployEnvironment')
  return (
    <Table label="Deployments" columns={columns}>
      {history.map((deployment, index) => {
        const { identifier, auditing_data: audit, action_status, trigger_action, total_duration } = deployment
        const id = identifier.execution_id
        const before = deploymentBefore(history, id)
        const at = exactTime(audit.created_at)
        return (
          <tr key={id} data-shown={id === shown} className={styles['row']}>
            <td>
              <Link
                to="/organizations/$organizationId/environments/$environmentId/deployments"
                params={params}
                search={({ act: _, ...rest }) => ({ ...rest, deployment: id })}
                resetScroll={false}
              >
                <When at={audit.created_at} />
              </Link>
            </td>
            <td>{wordsOf(trigger_action)}</td>
            <td>
              <State state={action_status} />
            </td>
            <td>{countOf(deployment)}</td>
            <td>{audit.triggered_by}</td>
            <td>{total_duration && secondsOf(total_duration)}</td>
            <td className={rows['actions']}>
              <Button
                label={`Changes of the deployment of ${at}`}
                refusal={before ? undefined : 'no earlier deployment is listed'}
                onClick={() => before && onCompare(before.identifier.execution_id, id)}
              >
                Changes
              </Button>
              <Button
                label={`Roll back to the deployment of ${at}`}
                refusal={forbidden ?? (index === 0 ? 'it is the last deployment' : undefined)}
                onClick={() => onRollback(deployment)}
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

/** Pure: the number of services of a deployment, and of the ones that failed. */
function countOf(deployment: EnvironmentDeployment): string {
  const all = servicesIn(deployment)
  const failed = all.filter(({ status_details: { status } }) => status === 'ERROR').length
  return failed > 0 ? `${all.length}, ${failed} failed` : String(all.length)
}
