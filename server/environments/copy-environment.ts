import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { type EnvironmentRow, findEnvironment } from '../organizations/index.ts'
import { type Clone, listServices, type ServiceRow } from '../services/index.ts'
import type { VariableCopy } from '../variables/index.ts'
import { hasContent, holdSource, lockCopy, setCopying, setServiceCopying, skipCopies } from './clone-store.ts'
import { endCopyRecord } from './copy-record-store.ts'
import { insertStage, listStages } from './stage-store.ts'

export interface RowCopyOptions {
  readonly clock: Clock
  /**
   * Writes the rows of a service's copy, without its variables, into the stage of the same name.
   * Returns the copy's id.
   */
  readonly copyService: (sql: Sql, clone: Clone) => Promise<string>
  readonly copyVariables: (sql: Sql, copy: VariableCopy) => Promise<void>
}

/** The ids of the future copies, by the ids of their originals. */
export type CopyIds = Readonly<Record<string, string>>

/** Writes stages, services and variables of a copy. Does nothing if they are already written. */
export async function copyEnvironment(
  sql: Sql,
  options: RowCopyOptions,
  { id, withData, ids }: { readonly id: string; readonly withData: boolean; readonly ids: CopyIds },
): Promise<void> {
  const sourceId = await lockCopy(sql, id)
  // The copy was deleted, or an earlier attempt completed it; ending its record twice is harmless.
  if (sourceId === undefined) return endCopyRecord(sql, id, { status: 'CANCELED', now: options.clock.now() })
  if (withData && (await hasContent(sql, id))) return
  const held = await holdSource(sql, sourceId)
  const [source, copy] = [await findEnvironment(sql, sourceId), await findEnvironment(sql, id)]
  if (!held || !source || !copy) throw new Error('the environment to copy no longer exists')
  await copyStages(sql, source, copy, options.clock.now())
  // A copy with data leaves out services that were added after it began.
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
