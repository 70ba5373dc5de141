import { type DueReconciler, inTransaction } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { isDriftDue, lockDueDrift, nextDrift, setNextDrift } from '../stacks/index.ts'
import type { RecipeOptions } from './recipe.ts'
import { driftWorkflow } from './stack-drift.ts'

/**
 * Begins the checks for drift that are due: each once, however many servers run. One check is made
 * for all times that passed while no server ran.
 */
export const createDriftTimetables = (options: RecipeOptions): DueReconciler => ({
  name: 'drift timetables',
  everyMs: 60_000,
  due: (sql) => isDriftDue(sql, options.clock.now()),
  reconcile: async () => {
    const submitted = await inTransaction(options.database, async (sql) => {
      const now = options.clock.now()
      const due = await lockDueDrift(sql, now)
      for (const policy of due) {
        const [id, serviceId] = [newId(), policy.service_id]
        const input = { runId: id, serviceId }
        // The key of a stack: a slow check is not joined by the next one.
        await options
          .workflows()
          .submit(sql, { id, kind: driftWorkflow, key: serviceId, input, countsFor: { serviceId } })
        await setNextDrift(sql, serviceId, nextDrift(policy, now))
      }
      return due.length
    })
    if (submitted > 0) options.workflows().nudge()
  },
})
