import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { clusterAdvanced } from '../../api/advanced.ts'
import { api } from '../../api/client.ts'
import { aboutClusters } from '../../api/reads-clusters.ts'
import { clusters } from '../../api/reads-making.ts'
import { asBody } from '../../forms/draft.ts'
import { Page } from '../../ui/Page.tsx'
import { Missing } from '../Failed.tsx'
import { useMay } from '../use-may.ts'
import { AdvancedSettings } from './AdvancedSettings.tsx'

/** The advanced settings of a cluster. */
export function ClusterAdvancedPage() {
  const { organizationId, clusterId } = useParams({
    from: '/organizations/$organizationId/settings/clusters/$clusterId/advanced',
  })
  const { data: list } = useSuspenseQuery(clusters(organizationId))
  const { data } = useSuspenseQuery(clusterAdvanced(organizationId, clusterId))
  const cluster = list.find(({ id }) => id === clusterId)
  const forbidden = useMay({ clusterId })('editClusterAdvancedSettings')
  if (!cluster) return <Missing />
  return (
    <Page
      title={`Advanced settings of ${cluster.name}`}
      above={
        <>
          <Link to="/organizations/$organizationId/settings/clusters" params={{ organizationId }}>
            Clusters
          </Link>
          <Link to="/organizations/$organizationId/settings/clusters/$clusterId" params={{ organizationId, clusterId }}>
            {cluster.name}
          </Link>
        </>
      }
    >
      <AdvancedSettings
        {...data}
        save={(settings) => api.editClusterAdvancedSettings({ organizationId, clusterId, body: asBody(settings) })}
        makesOld={aboutClusters(organizationId)}
        forbidden={forbidden}
      />
    </Page>
  )
}
