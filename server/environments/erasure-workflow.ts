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

/**
 * Submits the removal of the services' volumes. Call it in the transaction that deletes the
 * services, before it deletes them.
 */
export const submitErasure =
  (workflows: Pick<Workflows, 'submit'>): SubmitErasure =>
  async (sql, services) => {
    const [serviceId] = services
    if (serviceId === undefined) return
    const id = newId()
    const countsFor = { serviceId }
    await workflows.submit(sql, { id, kind: erasureWorkflow, key: id, input: { services: [...services] }, countsFor })
  }

export const createErasureWorkflow = (options: DataCopyOptions): Workflow<Input> => ({
  name: erasureWorkflow,
  run: ({ services }, step) => eraseData(options, services, step),
  abandoned: async ({ services }, reason) => {
    options.log.error({ services, reason }, 'volumes of a failed copy could not be removed; remove them by hand')
  },
})
