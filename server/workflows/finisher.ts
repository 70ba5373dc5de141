import { type Database, inTransaction } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'
import { isOutage } from './outage.ts'
import type { Reconciler, Workflow } from './workflow.ts'
import { listUnfinished, lockUnfinished } from './workflow-store.ts'

export interface FinisherOptions {
  readonly database: Database
  readonly log: Logger
  /** Those that tell what is unfinished; others are passed over. */
  readonly workflows: readonly Workflow[]
}

/** Abandons anew what ended without its domain's state, so that nothing waits for ever for a workflow that has ended. */
export const createFinisher = (options: FinisherOptions): Reconciler => ({
  name: 'unfinished work',
  everyMs: 5000,
  reconcile: async (signal) => {
    const { database, workflows } = options
    for (const workflow of workflows) {
      if (!workflow.unfinished) continue
      for (const id of await listUnfinished(database, workflow.name, workflow.unfinished(database))) {
        signal.throwIfAborted()
        await finish(options, workflow, id)
      }
    }
  },
})

async function finish({ database, log }: FinisherOptions, workflow: Workflow, id: string): Promise<void> {
  const kind = workflow.name
  try {
    const isFinished = await inTransaction(database, async (sql) => {
      const row = workflow.unfinished && (await lockUnfinished(sql, id, workflow.unfinished(sql)))
      if (!row) return false
      await workflow.abandoned(row.input, row.error ?? 'it ended without a reason', sql)
      // What could be written is kept, even if something is left.
      return workflow.unfinished && (await lockUnfinished(sql, id, workflow.unfinished(sql))) === undefined
    })
    if (isFinished) log.warn({ workflow: id, kind }, 'what an ended workflow had left unfinished was ended')
  } catch (error) {
    if (isOutage(error)) throw error
    log.error(
      { err: error, workflow: id, kind },
      'what an ended workflow left unfinished cannot be ended; trying again',
    )
  }
}
