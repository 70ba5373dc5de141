import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { Vault } from '../vault/index.ts'
import { findKubeconfig } from './connection-store.ts'
import { type InCluster, inClusterAccess, inClusterMark } from './in-cluster.ts'
import { type ClusterAccess, readAccess } from './kubeconfig.ts'
import { kubeconfigCell } from './part-store.ts'

export interface ClusterAccessOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  /** Whether the server may connect to this host, without asking for its addresses. */
  readonly allowsHost: (host: string) => boolean
  /** The cluster that needs no kubeconfig. Undefined: there is none. */
  readonly inCluster: InCluster | undefined
}

/** Returns how to reach a cluster, from its stored kubeconfig. Throws AppError. */
export type ReadClusterAccess = (clusterId: string) => Promise<ClusterAccess>

export const createClusterAccess =
  ({ database, vault, clock, allowsHost, inCluster }: ClusterAccessOptions): ReadClusterAccess =>
  async (clusterId) => {
    if (inCluster?.clusterId === clusterId) return inClusterAccess(inCluster, clock)
    const row = await findKubeconfig(database, clusterId)
    if (!row) throw notFound('cluster', clusterId)
    const { organization_id, sealed_kubeconfig } = row
    const text = (await vault.open(database, organization_id, kubeconfigCell(clusterId), sealed_kubeconfig)).reveal()
    if (text !== inClusterMark) return readAccess(text, allowsHost)
    throw new AppError(
      'invalid',
      'The operator no longer allows the service account of the server for this cluster. PUT a kubeconfig.',
    )
  }
