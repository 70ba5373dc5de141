import { createClusterLocks } from './cluster-locks.ts'
import { type ClusterOperationsOptions, createClusterOperations } from './cluster-operations.ts'
import { type ClusterPartsOptions, createClusterParts } from './cluster-parts.ts'
import { type ClustersOptions, createClusterRecords } from './clusters.ts'

/** All operations on clusters. */
export const createClusters = (options: ClustersOptions & ClusterPartsOptions & ClusterOperationsOptions) => ({
  ...createClusterRecords(options),
  parts: createClusterParts(options),
  locks: createClusterLocks(options),
  operations: createClusterOperations(options),
})
