import { type Database, inTransaction } from '../database/index.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { isOutage } from './outage.ts'
import type { Workflow } from './workflow.ts'
import { listUnfinished, lockUnfinished } from './workflow-store.ts'

export interface FinisherOptions {
  readonly database: Database
  readonly log: Logger
  /** Workflows that list their unfinished work. Others are skipped. */
  readonly workflows: readonly Workflow[]
}

/**
 * Calls `abandoned` again for ended workflows whose domain state is missing, so that nothing waits
 * forever for an ended workflow.
 */
export const createFinisher = (options: FinisherOptions): Reconciler => ({
  name: 'unfinished work',
  everyMs: 5000,
  reconcile: async (signal) => {
    const { database, workflows } = options
    const kinds = workflows.flatMap((workflow) =>
      workflow.unfinished ? [{ kind: workflow.name, unfinished: workflow.unfinished(database) }] : [],
    )
    for (const { id, kind } of await listUnfinished(database, kinds)) {
      signal.throwIfAborted()
      const workflow = workflows.find(({ name }) => name === kind)
      if (workflow) await finish(options, workflow, id)
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
      // Keeps what could be written, even if a part is missing.
      return workflow.unfinished && (await lockUnfinished(sql, id, workflow.unfinished(sql))) === undefined
    })
    if (isFinished) log.warn({ workflow: id, kind }, 'the unfinished work of an ended workflow was ended')
  } catch (error) {
    if (isOutage(error)) throw error
    log.error(
      { err: error, workflow: id, kind },
      'the unfinished work of an ended workflow cannot be ended; trying again',
    )
  }
}
