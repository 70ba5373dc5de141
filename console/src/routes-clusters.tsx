import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { clusterAdvanced } from './api/advanced.ts'
import { queries } from './api/client.ts'
import { clusterStatuses } from './api/reads-clusters.ts'
import { clusters } from './api/reads-making.ts'
import { Failed } from './pages/Failed.tsx'
import type { frame } from './routes-organization.tsx'

const readClusters = (organizationId: string) =>
  Promise.all([
    queries.ensureQueryData(clusters(organizationId)),
    queries.ensureQueryData(clusterStatuses(organizationId)),
  ])

/** The clusters of an organization. They are loaded when somebody opens them. */
export function clusterRoutes(parent: typeof frame) {
  const getParentRoute = () => parent
  const clustersPage = createRoute({
    getParentRoute,
    path: 'clusters',
    errorComponent: Failed,
    loader: ({ params }) => readClusters(params.organizationId),
    component: lazyRouteComponent(() => import('./pages/clusters/ClustersPage.tsx'), 'ClustersPage'),
  })
  const clusterPage = createRoute({
    getParentRoute,
    path: 'clusters/$clusterId',
    errorComponent: Failed,
    loader: ({ params }) => readClusters(params.organizationId),
    component: lazyRouteComponent(() => import('./pages/clusters/ClusterPage.tsx'), 'ClusterPage'),
  })
  const advancedPage = createRoute({
    getParentRoute,
    path: 'clusters/$clusterId/advanced',
    errorComponent: Failed,
    loader: ({ params: { organizationId, clusterId } }) =>
      Promise.all([readClusters(organizationId), queries.fetchQuery(clusterAdvanced(organizationId, clusterId))]),
    component: lazyRouteComponent(() => import('./pages/advanced/ClusterAdvancedPage.tsx'), 'ClusterAdvancedPage'),
  })
  return [clustersPage, clusterPage, advancedPage] as const
}
