import type { Sql } from '../database/index.ts'
import { newId, newRandomId } from '../lib/id.ts'
import { type EnvironmentRow, findEnvironment } from '../organizations/index.ts'
import { type Clone, findService, listServices, type ServiceRow } from '../services/index.ts'
import type { VariableCopy } from '../variables/index.ts'
import type { Workflow } from '../workflows/index.ts'
import {
  deleteCopy,
  endCopy,
  hasContent,
  holdSource,
  isCopying,
  lockCopy,
  setCopying,
  setServiceCopying,
  skipCopies,
} from './clone-store.ts'
import { endCopyRecord } from './copy-record-store.ts'
import { copyData, type DataCopyOptions, dataOf, eraseData, type ServiceData } from './data-copy.ts'
import type { SubmitErasure } from './erasure-workflow.ts'
import { insertStage, listStages } from './stage-store.ts'

export const copyWorkflow = 'environment copy'

export interface CopyOptions extends DataCopyOptions {
  /** Makes the rows of one service's copy, in the stage of the same name, without its variables; gives its id. */
  readonly copyService: (sql: Sql, clone: Clone) => Promise<string>
  readonly copyVariables: (sql: Sql, copy: VariableCopy) => Promise<void>
  readonly submitErasure: SubmitErasure
  /** Writes the reason into the record of changes, before the copy is removed. */
  readonly recordFailure: (
    sql: Sql,
    failed: { readonly environmentId: string; readonly reason: string },
  ) => Promise<void>
}

export interface CopyInput {
  readonly environmentId: string
  readonly withData: boolean
  readonly [key: string]: string | boolean
}

/**
 * Fills a new environment with a copy of another one: all rows in one transaction, then, where it is asked for, the data of each
 * service. It is whole, or the environment goes again.
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
      await endCopyRecord(sql, environmentId, isWanted ? { status: 'ERROR', reason, now } : { status: 'CANCELED', now })
      if (!isWanted) return
      await options.recordFailure(sql, { environmentId, reason })
      const services = withData ? (await listServices(sql, environmentId)).map(({ id }) => id) : []
      await options.submitErasure(sql, services)
      await deleteCopy(sql, environmentId)
    },
  }
}

/** By the id of each service that its copy is to have. */
type CopyIds = Readonly<Record<string, string>>

async function idsOf({ database }: CopyOptions, id: string): Promise<Record<string, string>> {
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

async function copyEnvironment(
  sql: Sql,
  options: CopyOptions,
  { id, withData, ids }: { readonly id: string; readonly withData: boolean; readonly ids: CopyIds },
): Promise<void> {
  const sourceId = await lockCopy(sql, id)
  // It was deleted, unless an earlier try has ended it.
  if (sourceId === undefined) return endCopyRecord(sql, id, { status: 'CANCELED', now: options.clock.now() })
  if (withData && (await hasContent(sql, id))) return
  const held = await holdSource(sql, sourceId)
  const [source, copy] = [await findEnvironment(sql, sourceId), await findEnvironment(sql, id)]
  if (!held || !source || !copy) throw new Error('the environment that was to be copied does not exist any more')
  await copyStages(sql, source, copy, options.clock.now())
  // With data, what was added since the copy began has no place in it.
  const originals = (await listServices(sql, source.id)).filter((from) => !withData || ids[from.id] !== undefined)
  const services = new Map<string, string>()
  for (const from of originals) {
    const copyId = ids[from.id]
    const clone = {
      from,
      environment: copy,
      name: from.name,
      withData,
      ...(copyId === undefined ? {} : { id: copyId }),
    }
    const made = await options.copyService(sql, clone)
    services.set(from.id, made)
    if (withData) await setServiceCopying(sql, made, from.id)
  }
  const skipped = originals.filter(({ is_skipped }) => is_skipped)
  await skipCopies(sql, copiesOf(skipped, services))
  await options.copyVariables(sql, { from: placeOf(source), to: placeOf(copy), services, withEnvironment: true })
  if (withData) return
  await setCopying(sql, copy.id, null)
  await endCopyRecord(sql, copy.id, { status: 'SUCCESS', now: options.clock.now() })
}

/** False when the copy was deleted. */
async function endWhole(sql: Sql, { clock }: CopyOptions, id: string): Promise<boolean> {
  const isWhole = await endCopy(sql, id)
  if (isWhole) await endCopyRecord(sql, id, { status: 'SUCCESS', now: clock.now() })
  return isWhole
}

async function copyStages(sql: Sql, source: EnvironmentRow, copy: EnvironmentRow, now: Date): Promise<void> {
  for (const { name, description, deployment_order } of await listStages(sql, source.id)) {
    await insertStage(sql, { id: newId(), environment_id: copy.id, name, description, deployment_order, now })
  }
}

const copiesOf = (originals: readonly ServiceRow[], services: ReadonlyMap<string, string>): string[] =>
  originals.flatMap(({ id }) => services.get(id) ?? [])

const placeOf = ({ organization_id, project_id, id }: EnvironmentRow) => ({
  organizationId: organization_id,
  projectId: project_id,
  environmentId: id,
})
