import type { Sql } from '../database/index.ts'
import { newRandomId } from '../lib/id.ts'
import { findEnvironment } from '../organizations/index.ts'
import { findService, listServices } from '../services/index.ts'
import type { Workflow } from '../workflows/index.ts'
import { deleteCopy, endCopy, isCopying, unfinishedCopies } from './clone-store.ts'
import { type CopyIds, copyEnvironment, type RowCopyOptions } from './copy-environment.ts'
import { endCopyRecord } from './copy-record-store.ts'
import { copyData, type DataCopyOptions, dataOf, eraseData, type ServiceData } from './data-copy.ts'
import type { SubmitErasure } from './erasure-workflow.ts'
import { endFailedCopy } from './failed-copy.ts'
import { recordFailedCopy } from './record-failed-copy.ts'

export const copyWorkflow = 'environment copy'

export interface CopyOptions extends DataCopyOptions, RowCopyOptions {
  readonly submitErasure: SubmitErasure
  /**
   * Ends the deployment requests that wait for the data of these services, before the copy is
   * removed.
   */
  readonly failRequests: (sql: Sql, services: readonly string[], reason: string) => Promise<void>
}

export interface CopyInput {
  readonly environmentId: string
  readonly withData: boolean
  readonly [key: string]: string | boolean
}

/**
 * Fills a new environment with a copy of another one: all rows in one transaction, then, where it
 * is asked for, the data of each service. It is whole, or the environment goes again.
 */
export function createCopyWorkflow(options: CopyOptions): Workflow<CopyInput> {
  return {
    name: copyWorkflow,
    run: async ({ environmentId: id, withData }, step, context) => {
      const { database } = options
      // Written down first: a second try finds the copies of the first by them.
      const ids = withData ? await step('IDS', () => idsOf(options, id)) : {}
      await step('COPY', () => context.fenced((sql) => copyEnvironment(sql, options, { id, withData, ids })))
      if (!withData) return
      const planned = await step('VOLUMES', () => plannedData(options, ids))
      const isThere = await copyData(options, planned, step, { id, exists: () => isCopying(database, id) })
      const isWhole = isThere && (await step('END', () => context.fenced((sql) => endWhole(sql, options, id))))
      if (isWhole) return
      await eraseData(options, Object.values(ids), step)
      await context.fenced((sql) => endCopyRecord(sql, id, { status: 'CANCELED', now: options.clock.now() }))
    },
    abandoned: async ({ environmentId, withData }, reason, sql) => {
      options.log.warn({ environmentId, reason }, 'the copy of an environment could not be made')
      const isWanted = await isCopying(sql, environmentId)
      const now = options.clock.now()
      if (!isWanted) return endCopyRecord(sql, environmentId, { status: 'CANCELED', now })
      const services = withData ? (await listServices(sql, environmentId)).map(({ id }) => id) : []
      await endFailedCopy(options, sql, {
        id: environmentId,
        reason,
        failRequests: (inner) => options.failRequests(inner, services, reason),
        remove: async (inner) => {
          await recordFailedCopy(inner, environmentId, { reason, now })
          await options.submitErasure(inner, services)
          await deleteCopy(inner, environmentId)
        },
      })
    },
    unfinished: unfinishedCopies,
  }
}

/**
 * The copies are written with the environment; those that an earlier version began are still to be
 * written.
 */
async function idsOf({ database }: CopyOptions, id: string): Promise<Record<string, string>> {
  const copies = await listServices(database, id)
  if (copies.length > 0) {
    return Object.fromEntries(copies.flatMap((copy) => (copy.copying ? [[copy.copying, copy.id]] : [])))
  }
  const copy = await findEnvironment(database, id)
  const services = copy?.copying ? await listServices(database, copy.copying) : []
  return Object.fromEntries(services.map((service) => [service.id, newRandomId()]))
}

async function plannedData(options: CopyOptions, ids: CopyIds): Promise<ServiceData[]> {
  const { database } = options
  const planned: ServiceData[] = []
  for (const [sourceId, copyId] of Object.entries(ids)) {
    const [from, to] = [await findService(database, sourceId), await findService(database, copyId)]
    // Without a copy: it was deleted before the rows were copied, or the copy is gone as a whole.
    if (!to) continue
    if (!from) throw new Error(`service "${to.name}" was deleted while its environment was copied`)
    planned.push(dataOf(options, from, to))
  }
  return planned.filter(({ volumes }) => volumes.length > 0)
}

/** False when the copy was deleted. */
async function endWhole(sql: Sql, { clock }: CopyOptions, id: string): Promise<boolean> {
  const isWhole = await endCopy(sql, id)
  if (isWhole) await endCopyRecord(sql, id, { status: 'SUCCESS', now: clock.now() })
  return isWhole
}
