import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import type { Workflow, Workflows } from '../workflows/index.ts'
import { type DataCopyOptions, eraseData } from './data-copy.ts'

const erasureWorkflow = 'volume erasure'

interface Input {
  readonly services: string[]
  readonly [key: string]: string[]
}

export type SubmitErasure = (sql: Sql, services: readonly string[]) => Promise<void>

/** Has the volumes of services removed that are no more, in the transaction that removes them. */
export const submitErasure =
  (workflows: () => Pick<Workflows, 'submit'>): SubmitErasure =>
  async (sql, services) => {
    if (services.length === 0) return
    const id = newId()
    await workflows().submit(sql, { id, kind: erasureWorkflow, key: id, input: { services: [...services] } })
  }

export const createErasureWorkflow = (options: DataCopyOptions): Workflow<Input> => ({
  name: erasureWorkflow,
  run: ({ services }, step) => eraseData(options, services, step),
  abandoned: async ({ services }, reason) => {
    options.log.error({ services, reason }, 'volumes of a copy that failed could not be removed; remove them by hand')
  },
})
