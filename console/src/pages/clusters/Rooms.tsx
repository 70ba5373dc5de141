import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMachines } from '../../api/cluster-room.ts'
import type { Cluster } from '../../api/reads-clusters.ts'
import { clusters } from '../../api/reads-making.ts'
import { Section } from '../../ui/Page.tsx'
import { State } from '../../ui/State.tsx'
import { ClusterRoom } from './ClusterRoom.tsx'
import styles from './Clusters.module.css'

/** The room of each cluster of an organization. */
export function Rooms({ organizationId }: { readonly organizationId: string }) {
  const { data } = useSuspenseQuery(clusters(organizationId))
  return (
    <Section title="Room">
      <div className={styles['rooms']}>
        {data.map((cluster) => (
          <div key={cluster.id}>
            <header>
              <h3>
                <Link
                  to="/organizations/$organizationId/settings/clusters/$clusterId"
                  params={{ organizationId, clusterId: cluster.id }}
                >
                  {cluster.name}
                </Link>
              </h3>
              <State state={cluster.status} />
            </header>
            <Room {...{ organizationId, cluster }} />
          </div>
        ))}
      </div>
    </Section>
  )
}

function Room({ organizationId, cluster }: { readonly organizationId: string; readonly cluster: Cluster }) {
  const machines = useMachines({ organizationId, clusterId: cluster.id })
  return <ClusterRoom {...{ organizationId, cluster, machines }} />
}
