import { afterCommit, type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Workflows } from '../workflows/index.ts'
import { type ClusterRow, countEnvironments, deleteCluster, findCluster, lockCluster } from './cluster-store.ts'
import { clusterWorkflow } from './cluster-workflow.ts'
import { existing } from './clusters.ts'
import { reachingEngine } from './engine-name.ts'
import { insertLogLine, insertOperation, listLogLines, type OperationKind } from './operation-store.ts'
import { clusterStatus, executionId } from './record.ts'
import { type DeleteMode, engineMessage, lockedMessage, passingMessage, removalRefusal } from './refusals.ts'

export interface ClusterOperationsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
}

/** How a cluster is deleted. `skipReconcile` touches nothing on it. */
export interface DeletionWish {
  readonly deleteMode?: DeleteMode
  readonly skipReconcile?: boolean
}

const words = {
  DEPLOY: 'A deployment',
  UPGRADE: 'An upgrade',
  DRY_RUN: 'A dry run',
  STOP: 'The stop',
  DELETE: 'The deletion',
} as const
const shownLines = 1000

/** Operations on a cluster itself: stored here, run by the workflow. One at a time. */
export function createClusterOperations({ database, clock, workflows }: ClusterOperationsOptions) {
  /** Stores an operation and the workflow that carries it out. */
  async function store(sql: Sql, row: ClusterRow, kind: OperationKind, by: string, more: Record<string, string> = {}) {
    const [id, number, at] = [newId(), row.operation_number + 1, clock.now()]
    const work = { id, kind: clusterWorkflow, key: row.id, input: { ...more, operationId: id } }
    await workflows.submit(sql, { ...work, countsFor: { organizationId: row.organization_id } })
    const execution_id = executionId(row.id, number) ?? ''
    const operation = { id, cluster_id: row.id, execution_id, kind, triggered_by: by, former_status: row.status }
    await insertOperation(sql, { ...operation, created_at: at }, number)
    const message = `${words[kind]} of the cluster was requested by ${by}.`
    await insertLogLine(sql, operation, { at, step: 'LoadConfiguration', message, is_error: false })
  }

  async function accept(
    organizationId: string,
    clusterId: string,
    kind: OperationKind,
    by: string,
    more: Record<string, string> = {},
  ) {
    const status = await inTransaction(database, async (sql) => {
      const row = existing(await lockCluster(sql, organizationId, clusterId), clusterId)
      refuse(row)
      await store(sql, row, kind, by, more)
      return clusterStatus(existing(await findCluster(sql, organizationId, clusterId), clusterId))
    })
    afterCommit(() => workflows.nudge())
    return status
  }

  return {
    deploy: (organizationId: string, clusterId: string, by: string, dryRun: boolean) =>
      accept(organizationId, clusterId, dryRun ? 'DRY_RUN' : 'DEPLOY', by),
    upgrade: (cluster: ClusterRow, by: string) => accept(cluster.organization_id, cluster.id, 'UPGRADE', by),

    /**
     * Deletes a cluster: at once if it has no environments and nothing on it is touched, otherwise
     * by a workflow. Throws 409 with the reason.
     */
    async remove(
      organizationId: string,
      clusterId: string,
      by: { readonly id: string; readonly name: string },
      { deleteMode = 'DEFAULT', skipReconcile = false }: DeletionWish = {},
    ): Promise<void> {
      await inTransaction(database, async (sql) => {
        const row = existing(await lockCluster(sql, organizationId, clusterId), clusterId)
        const environments = await countEnvironments(sql, clusterId)
        const reason = removalRefusal(row, environments, deleteMode)
        if (reason) throw new AppError('conflict', reason)
        const leavesCluster = skipReconcile || deleteMode === 'DELETE_QOVERY_CONFIG' || reachingEngine(row) === null
        if (leavesCluster && environments === 0) return deleteCluster(sql, clusterId)
        await store(sql, row, 'DELETE', by.name, { byId: by.id, leavesCluster: String(leavesCluster) })
      })
      afterCommit(() => workflows.nudge())
    },

    /** Stops the services of all environments. Nothing is deployed there until `deploy`. */
    stop: (organizationId: string, clusterId: string, by: { readonly id: string; readonly name: string }) =>
      accept(organizationId, clusterId, 'STOP', by.name, { byId: by.id }),

    async logs(organizationId: string, clusterId: string) {
      const { id, name, region, cloud_provider } = existing(
        await findCluster(database, organizationId, clusterId),
        clusterId,
      )
      const details = { provider_kind: cloud_provider, region, transmitter: { type: 'Cluster', id, name } }
      return (await listLogLines(database, id, shownLines)).map(({ at, step, message, is_error }) => ({
        type: is_error ? 'error' : 'info',
        timestamp: at,
        step,
        message: { safe_message: message },
        ...(is_error ? { error: { tag: 'CLUSTER', user_log_message: message } } : {}),
        details,
      }))
    },
  }
}

function refuse(row: ClusterRow): void {
  const noEngine = engineMessage(row)
  if (noEngine) throw new AppError('invalid', noEngine)
  const reason = row.lock_reason === null ? passingMessage(row) : lockedMessage(row)
  if (reason) throw new AppError('conflict', reason)
}
