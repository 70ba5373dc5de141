import type { Database } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import type { Vault } from '../vault/index.ts'
import { findKubeconfig } from './connection-store.ts'
import { type ClusterAccess, readAccess } from './kubeconfig.ts'

export interface ClusterAccessOptions {
  readonly database: Database
  readonly vault: Vault
  /** Whether the server may connect to this host, without asking for its addresses. */
  readonly allowsHost: (host: string) => boolean
}

/** Returns how to reach a cluster, from its stored kubeconfig. Throws AppError. */
export type ReadClusterAccess = (clusterId: string) => Promise<ClusterAccess>

export const createClusterAccess =
  ({ database, vault, allowsHost }: ClusterAccessOptions): ReadClusterAccess =>
  async (clusterId) => {
    const row = await findKubeconfig(database, clusterId)
    if (!row) throw notFound('cluster', clusterId)
    const cell = { table: 'cluster', row: clusterId, column: 'sealed_kubeconfig' }
    const kubeconfig = await vault.open(database, row.organization_id, cell, row.sealed_kubeconfig)
    return readAccess(kubeconfig.reveal(), allowsHost)
  }
