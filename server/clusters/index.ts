/** Clusters: records, locks, operations, credentials, and the tables of what clouds offer. */
export {
  listDatabaseInstanceTypes,
  listDatabaseTypes,
  listFeatures,
  listInstanceTypes,
  listProviders,
  listRegions,
} from './catalogue.ts'
export { createClusterAccess } from './cluster-access.ts'
export { createClusterHealth } from './cluster-health.ts'
export {
  type ClusterRow,
  clusterTarget,
  findCluster,
  insertBuiltInCluster,
  insertOwnCluster,
  organizationOfCluster,
} from './cluster-store.ts'
export { createClusterWorkflow } from './cluster-workflow.ts'
export { type Connection, createConnector, noConnection } from './connector.ts'
export { createClusters } from './create-clusters.ts'
export { createCredentials } from './credentials.ts'
export { adoptInCluster, networksOf } from './in-cluster.ts'
export { addBuiltInCluster, clusterEndowments, createPlatformParts, findClusterId } from './platform-parts.ts'
export type { CredentialsBody } from './variants.ts'
