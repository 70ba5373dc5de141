import type { RunContext, Step } from '../workflows/index.ts'
import type { ClusterWorkflowOptions, OperationInput } from './cluster-workflow.ts'
import { finishOperation, insertLogLine, type OperationRow, setStatus } from './operation-store.ts'

/** How long the services of one environment may take to stop. */
const stopSeconds = 3600

/**
 * Begin → each environment → end. From the beginning on, nothing is deployed on the cluster until
 * the cluster itself is deployed.
 */
export async function runStop(
  { parts, clock }: ClusterWorkflowOptions,
  operation: OperationRow,
  input: OperationInput,
  step: Step,
  context: RunContext,
): Promise<void> {
  const { id, cluster_id: clusterId } = operation
  const by = { id: input['byId'] ?? '', name: operation.triggered_by }
  const line = (message: string) => ({ at: clock.now(), step: 'Pause', message, is_error: false }) as const
  await step('BEGIN', () =>
    context.fenced(async (sql) => {
      await setStatus(sql, clusterId, 'STOPPING')
      await insertLogLine(sql, operation, line('Stopping the services of all environments.'))
    }),
  )
  const environments = await step('ENVIRONMENTS', async () => [...(await parts.listEnvironments(clusterId))])
  // A request that was accepted at the moment of the stop is seen by the second round.
  for (const round of [1, 2]) {
    for (const environment of environments) {
      const name = `ENVIRONMENT/${environment.id}/${round}`
      const stop = (signal: AbortSignal) => parts.stopEnvironment(environment.id, by, signal)
      await step(name, ({ signal }) => stop(signal), { deadlineSeconds: stopSeconds })
    }
  }
  await step('END', () =>
    context.fenced(async (sql) => {
      await setStatus(sql, clusterId, 'STOPPED')
      const message = 'Nothing of the cluster’s environments runs. Deploy the cluster and its environments to continue.'
      await insertLogLine(sql, operation, { ...line(message), step: 'Paused' })
      await finishOperation(sql, id, clock.now())
    }),
  )
}
