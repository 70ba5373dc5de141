import type { RunContext, Step } from '../workflows/index.ts'
import { deleteCluster, forgetConnection } from './cluster-store.ts'
import type { ClusterWorkflowOptions, OperationInput } from './cluster-workflow.ts'
import { insertLogLine, type OperationRow, setStatus } from './operation-store.ts'

/** How long the deletion of one environment, or of what is left on a cluster, may take. */
const deletionSeconds = 3600

/**
 * Begin → each environment → what is left on the cluster → the record. A deletion that leaves the
 * cluster alone first forgets how to reach it: its environments then end as those of a record.
 */
export async function runDeletion(
  { parts, clock }: ClusterWorkflowOptions,
  operation: OperationRow,
  input: OperationInput,
  step: Step,
  context: RunContext,
): Promise<void> {
  const { cluster_id: clusterId } = operation
  const leavesCluster = input['leavesCluster'] === 'true'
  const by = { id: input['byId'] ?? '', name: operation.triggered_by }
  await step('BEGIN', () =>
    context.fenced(async (sql) => {
      await setStatus(sql, clusterId, 'DELETING')
      if (leavesCluster) await forgetConnection(sql, clusterId)
      const message = leavesCluster
        ? 'Deleting the records. Everything that the platform created on the cluster remains there.'
        : 'Deleting everything that the platform created on the cluster.'
      await insertLogLine(sql, operation, { at: clock.now(), step: 'Delete', message, is_error: false })
    }),
  )
  const environments = await step('ENVIRONMENTS', async () => [...(await parts.listEnvironments(clusterId))])
  for (const { id } of environments) {
    await step(`ENVIRONMENT/${id}`, ({ signal }) => parts.removeEnvironment(id, by, signal), {
      deadlineSeconds: deletionSeconds,
    })
  }
  if (!leavesCluster) {
    await step('OBJECTS', ({ signal }) => parts.eraseAll(clusterId, signal), { deadlineSeconds: deletionSeconds })
  }
  await step('END', () => context.fenced((sql) => deleteCluster(sql, clusterId)))
}
