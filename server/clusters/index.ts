/** Where things run: the clusters of an organization, and which engine serves each. */
export { type ClusterRow, findCluster, insertBuiltInCluster } from './cluster-store.ts'
export { createClusters } from './clusters.ts'
