import type { Sql } from '../database/index.ts'
import { findService } from '../services/index.ts'
import type { Workflow } from '../workflows/index.ts'
import { deleteServiceCopy, endServiceCopy, isServiceCopying, unfinishedServiceCopies } from './clone-store.ts'
import { endCopyRecord } from './copy-record-store.ts'
import { copyData, type DataCopyOptions, dataOf, eraseData } from './data-copy.ts'
import type { SubmitErasure } from './erasure-workflow.ts'
import { endFailedCopy } from './failed-copy.ts'
import { recordFailedCopy } from './record-failed-copy.ts'

export const serviceCopyWorkflow = 'service copy'

export interface ServiceCopyInput {
  readonly serviceId: string
  readonly sourceId: string
  readonly [key: string]: string
}

export interface ServiceCopyOptions extends DataCopyOptions {
  readonly submitErasure: SubmitErasure
  /** Fails deployment requests that wait for these services' data, before the copy is deleted. */
  readonly failRequests: (sql: Sql, services: readonly string[], reason: string) => Promise<void>
}

/**
 * Copies the data of a service into its copy, which cannot be used until then. The copy is deleted
 * if this fails.
 */
export function createServiceCopyWorkflow(options: ServiceCopyOptions): Workflow<ServiceCopyInput> {
  const { database, clock } = options
  return {
    name: serviceCopyWorkflow,
    run: async ({ serviceId, sourceId }, step, context) => {
      const planned = await step('VOLUMES', async () => {
        const [from, to] = [await findService(database, sourceId), await findService(database, serviceId)]
        if (!to) return []
        if (!from) throw new Error('the service to copy no longer exists')
        return [dataOf(options, from, to)]
      })
      const isThere = await copyData(options, planned, step, {
        id: serviceId,
        exists: () => isServiceCopying(database, serviceId),
      })
      const isWhole = isThere && (await step('END', () => context.fenced((sql) => endServiceCopy(sql, serviceId))))
      const status = isWhole ? 'SUCCESS' : 'CANCELED'
      await context.fenced((sql) => endCopyRecord(sql, serviceId, { status, now: clock.now() }))
      if (!isWhole) await eraseData(options, [serviceId], step)
    },
    abandoned: async ({ serviceId }, reason, sql) => {
      options.log.warn({ serviceId, reason }, 'copying a service failed')
      const isWanted = await isServiceCopying(sql, serviceId)
      if (!isWanted) return endCopyRecord(sql, serviceId, { status: 'CANCELED', now: clock.now() })
      await endFailedCopy(options, sql, {
        id: serviceId,
        reason,
        failRequests: (inner) => options.failRequests(inner, [serviceId], reason),
        remove: async (inner) => {
          const service = await findService(inner, serviceId)
          if (service) await recordFailedCopy(inner, service.environment_id, { service, reason, now: clock.now() })
          await options.submitErasure(inner, [serviceId])
          await deleteServiceCopy(inner, serviceId)
        },
      })
    },
    unfinished: unfinishedServiceCopies,
  }
}
