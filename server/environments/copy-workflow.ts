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
  /** Fails deployment requests that wait for these services' data, before the copy is deleted. */
  readonly failRequests: (sql: Sql, services: readonly string[], reason: string) => Promise<void>
}

export interface CopyInput {
  readonly environmentId: string
  readonly withData: boolean
  readonly [key: string]: string | boolean
}

/**
 * Fills a new environment with a copy of another: all rows in one transaction, then the services'
 * data if requested. The environment is deleted if the copy fails.
 */
export function createCopyWorkflow(options: CopyOptions): Workflow<CopyInput> {
  return {
    name: copyWorkflow,
    run: async ({ environmentId: id, withData }, step, context) => {
      const { database } = options
      // The ids are stored first, so a retry finds the copies of the first attempt.
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
      options.log.warn({ environmentId, reason }, 'copying an environment failed')
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
 * Returns the ids of the copied services. They are written with the environment, except for copies
 * that an earlier version began.
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
    // The copy is missing if the service was deleted before, or the whole copy since.
    if (!to) continue
    if (!from) throw new Error(`service "${to.name}" was deleted while its environment was copied`)
    planned.push(dataOf(options, from, to))
  }
  return planned.filter(({ volumes }) => volumes.length > 0)
}

/** Marks the copy as complete. False when it was deleted. */
async function endWhole(sql: Sql, { clock }: CopyOptions, id: string): Promise<boolean> {
  const isWhole = await endCopy(sql, id)
  if (isWhole) await endCopyRecord(sql, id, { status: 'SUCCESS', now: clock.now() })
  return isWhole
}
