import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { type ClusterRow, lockCluster } from './cluster-store.ts'
import { existing } from './clusters.ts'
import { deleteLock, insertLock, listLocks } from './lock-store.ts'
import { lockedMessage, passingMessage } from './refusals.ts'

/**
 * The lock of a cluster prevents deployments, upgrades, changes and the deletion of the cluster
 * itself.
 */
export function createClusterLocks({ database, clock }: { database: Database; clock: Clock }) {
  return {
    list: (organizationId: string) => listLocks(database, organizationId),

    /** 409 if it is locked already, or while an operation is in progress. */
    async lock(
      cluster: ClusterRow,
      owner: string,
      body: { readonly reason: string; readonly ttl_in_days?: number | null },
    ) {
      const reason = body.reason.trim()
      if (reason === '') throw new AppError('invalid', 'reason must not be empty.')
      return inTransaction(database, async (sql) => {
        const row = existing(await lockCluster(sql, cluster.organization_id, cluster.id), cluster.id)
        const passing = passingMessage(row)
        if (passing) throw new AppError('conflict', passing)
        const inserted = await insertLock(sql, {
          cluster_id: row.id,
          reason,
          ttl_in_days: body.ttl_in_days ?? null,
          locked_at: clock.now(),
          owner_name: owner,
        })
        if (!inserted) throw new AppError('conflict', lockedMessage(row))
        return inserted
      })
    },

    unlock: (cluster: ClusterRow) => deleteLock(database, cluster.id),
  }
}
