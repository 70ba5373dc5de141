import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { clusterStatuses } from '../../api/reads-clusters.ts'
import { clusters } from '../../api/reads-making.ts'
import { cores, gibibytes } from '../../ui/amounts.ts'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { State } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import styles from './Clusters.module.css'
import { ConnectCluster } from './ConnectCluster.tsx'
import { HealthWords } from './HealthWords.tsx'

const columns = ['Cluster', 'State', 'Answers', 'Capacity', 'Last deployment']

/** The clusters of an organization, with their states. */
export function ClustersPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(clusters(organizationId))
  const { data: statuses } = useSuspenseQuery(clusterStatuses(organizationId))
  const [isConnecting, setConnecting] = useState(false)
  const may = useMay()
  return (
    <Page
      title="Clusters"
      actions={
        <Button look="main" refusal={may('createCluster')} onClick={() => setConnecting(true)}>
          Connect a cluster
        </Button>
      }
    >
      {isConnecting && <ConnectCluster organizationId={organizationId} onClose={() => setConnecting(false)} />}
      <Table label="Clusters" columns={columns}>
        {data.map(({ id, name, description, region, cloud_provider: provider, cpu, memory, ...cluster }) => {
          const status = statuses.find(({ cluster_id }) => cluster_id === id)
          return (
            <tr key={id}>
              <td>
                <Link
                  to="/organizations/$organizationId/settings/clusters/$clusterId"
                  params={{ organizationId, clusterId: id }}
                >
                  {name}
                </Link>
                <div className={styles['quiet']}>{description || `${provider} · ${region}`}</div>
              </td>
              <td>
                <State state={cluster.status} />
                {status?.cluster_lock && <div className={styles['quiet']}>locked</div>}
              </td>
              <td>
                <HealthWords health={status?.health ?? null} />
              </td>
              <td>{capacityOf(cpu, memory)}</td>
              <td>{status?.last_deployment_date ? <When at={status.last_deployment_date} /> : 'never'}</td>
            </tr>
          )
        })}
      </Table>
    </Page>
  )
}

/** Pure: the capacity of a cluster in words. The API reports 0 if it is unknown. */
export const capacityOf = (cpu: number, memory: number): string =>
  cpu === 0 ? 'unknown' : `${cores(cpu)}, ${gibibytes(memory)}`
