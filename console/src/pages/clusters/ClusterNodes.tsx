import { type Machine, problemsOf, reservedOf, type Share, stateOf, usedOf } from '../../api/cluster-nodes.ts'
import { cores, gibibytes } from '../../ui/amounts.ts'
import { Meter } from '../../ui/Meter.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Reason } from '../../ui/Reason.tsx'
import { State } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import styles from './Clusters.module.css'

interface ClusterNodesProps {
  /** Undefined until the first report. */
  readonly machines: readonly Machine[] | undefined
  /** The word for a workload: pods, or containers on a machine with Docker. */
  readonly noun: string
}

/** The machines of a cluster as they are now. */
export function ClusterNodes({ machines, noun }: ClusterNodesProps) {
  if (!machines) return <p role="status">Asking for the nodes …</p>
  if (machines.length === 0) return <Empty>The cluster reports no node.</Empty>
  return (
    <Table label="Nodes" columns={['Node', 'State', 'CPU', 'Memory', noun]}>
      {machines.map((machine) => (
        <NodeRow key={machine.name} machine={machine} />
      ))}
    </Table>
  )
}

function NodeRow({ machine }: { readonly machine: Machine }) {
  const { name, os_image: image, kubelet_version: version, architecture, created_at: createdAt } = machine
  const [used, reserved] = [usedOf(machine), reservedOf(machine)]
  const { pods: limit } = machine.resources_allocatable
  return (
    <tr>
      <td>
        {name}
        <div className={styles['quiet']}>{[image, version, architecture].filter(Boolean).join(' · ')}</div>
        {createdAt !== undefined && (
          <div className={styles['quiet']}>
            joined <When at={new Date(createdAt).toISOString()} />
          </div>
        )}
      </td>
      <td>
        <State state={stateOf(machine)} />
        {problemsOf(machine).map(({ type, message, reason }) => (
          <Reason key={type} text={`${type}: ${message || reason || 'no reason given'}`} />
        ))}
        <Conditions machine={machine} />
      </td>
      <Amounts used={used?.cpu} reserved={reserved?.cpu} words={cores} />
      <Amounts used={used?.memory} reserved={reserved?.memory} words={gibibytes} />
      <td>{limit === undefined ? machine.pod_count : `${machine.pod_count} of ${limit}`}</td>
    </tr>
  )
}

interface AmountsProps {
  readonly used: Share | undefined
  readonly reserved: Share | undefined
  readonly words: (amount: number) => string
}

function Amounts({ used, reserved, words }: AmountsProps) {
  const meter = (label: string, { part, whole }: Share) => (
    <Meter label={label} share={whole > 0 ? part / whole : undefined} words={`${words(part)} of ${words(whole)}`} />
  )
  return (
    <td className={styles['amounts']}>
      {used ? meter('Used', used) : <span className={styles['quiet']}>use not measured</span>}
      {reserved && meter('Reserved', reserved)}
    </td>
  )
}

function Conditions({ machine: { conditions } }: { readonly machine: Machine }) {
  if (conditions.length === 0) return null
  return (
    <details className={styles['conditions']}>
      <summary>{conditions.length === 1 ? '1 condition' : `${conditions.length} conditions`}</summary>
      <dl>
        {conditions.map(({ type, status, message }) => (
          <div key={type}>
            <dt>
              {type}: {status.toLowerCase()}
            </dt>
            <dd>{message}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
