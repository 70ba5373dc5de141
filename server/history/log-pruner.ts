import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { deploymentStream, type LineStore } from '../logs/index.ts'
import { listRecent } from '../requests/index.ts'

/** The number of newest logs of each environment that are kept, because users still need them. */
const keptRequests = 20
const batch = 500
const dayMs = 24 * 3600 * 1000

/**
 * Deletes the logs of deployments that ended more than `days` days ago, except the newest of each
 * environment, and the logs of deleted environments. The deployments stay in the history.
 */
export const createLogPruner = (options: {
  readonly database: Database
  readonly clock: Clock
  readonly lines: Pick<LineStore, 'remove' | 'streams'>
  readonly days: number
}): Reconciler => ({
  name: 'deployment logs',
  everyMs: 3600 * 1000,
  reconcile: async (signal) => {
    const { database, clock, lines, days } = options
    const before = new Date(clock.now().getTime() - days * dayMs)
    const prune = async (executions: readonly string[]): Promise<void> => {
      const kept = await listRecent(database, { executions, before, newest: keptRequests })
      for (const execution of executions) if (!kept.has(execution)) await lines.remove(deploymentStream(execution))
    }
    let executions: string[] = []
    for await (const execution of lines.streams('deployment')) {
      signal.throwIfAborted()
      executions.push(execution)
      if (executions.length < batch) continue
      await prune(executions)
      executions = []
    }
    await prune(executions)
  },
})
