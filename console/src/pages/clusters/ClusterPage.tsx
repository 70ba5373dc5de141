import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useMachines } from '../../api/cluster-room.ts'
import { clusterStatuses, isPassing as passing } from '../../api/reads-clusters.ts'
import { clusters } from '../../api/reads-making.ts'
import { Notice } from '../../ui/Notice.tsx'
import { Page, Section } from '../../ui/Page.tsx'
import { State } from '../../ui/State.tsx'
import { When } from '../../ui/When.tsx'
import { Missing } from '../Failed.tsx'
import { ClusterActions } from './ClusterActions.tsx'
import { ClusterEnvironments } from './ClusterEnvironments.tsx'
import { ClusterFacts } from './ClusterFacts.tsx'
import { ClusterLines } from './ClusterLines.tsx'
import { ClusterNodes } from './ClusterNodes.tsx'
import { ClusterRoom } from './ClusterRoom.tsx'

/** A cluster: its state, its connection, its checks and its environments. */
export function ClusterPage() {
  const { organizationId, clusterId } = useParams({
    from: '/organizations/$organizationId/settings/clusters/$clusterId',
  })
  const { data } = useSuspenseQuery(clusters(organizationId))
  const { data: statuses } = useSuspenseQuery(clusterStatuses(organizationId))
  const machines = useMachines({ organizationId, clusterId })
  const cluster = data.find(({ id }) => id === clusterId)
  const status = statuses.find(({ cluster_id }) => cluster_id === clusterId)
  if (!cluster || !status) return <Missing />
  const { cluster_lock: lock } = status
  return (
    <Page
      title={cluster.name}
      above={
        <Link to="/organizations/$organizationId/settings/clusters" params={{ organizationId }}>
          Clusters
        </Link>
      }
      beside={<State state={status.status} />}
      actions={<ClusterActions {...{ organizationId, cluster, status }} />}
    >
      {lock && (
        <Notice>
          <span>
            Locked by {lock.owner_name} <When at={lock.locked_at} />: {lock.reason}
          </span>
        </Notice>
      )}
      {cluster.deployment_status === 'OUT_OF_DATE' && (
        <Notice>Its settings have changed since its last deployment. Press Deploy to apply them.</Notice>
      )}
      <ClusterFacts {...{ cluster, status }} />
      <Section title="Room">
        <ClusterRoom {...{ organizationId, cluster, machines }} />
      </Section>
      <Section title="Nodes">
        <ClusterNodes machines={machines} noun={cluster.is_demo ? 'Containers' : 'Pods'} />
      </Section>
      <Section title="Checks and operations">
        <ClusterLines {...{ organizationId, clusterId }} isPassing={passing(status)} />
      </Section>
      <Section title="Environments">
        <ClusterEnvironments {...{ organizationId, clusterId }} />
      </Section>
    </Page>
  )
}
