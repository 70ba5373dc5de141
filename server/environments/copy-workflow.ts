import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import { type EnvironmentRow, findEnvironment } from '../organizations/index.ts'
import { type Clone, listServices, type ServiceRow } from '../services/index.ts'
import type { VariableCopy } from '../variables/index.ts'
import type { Workflow } from '../workflows/index.ts'
import { deleteCopy, holdSource, lockCopy, setCopying, skipCopies } from './clone-store.ts'
import { insertStage, listStages } from './stage-store.ts'

export const copyWorkflow = 'environment copy'

export interface CopyOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Makes the rows of one service's copy, in the stage of the same name, without its variables; gives its id. */
  readonly copyService: (sql: Sql, clone: Clone) => Promise<string>
  readonly copyVariables: (sql: Sql, copy: VariableCopy) => Promise<void>
}

interface Input {
  readonly environmentId: string
  readonly [key: string]: string
}

/** Fills a new environment with a copy of another one, in one transaction: it is whole, or the environment goes again. */
export function createCopyWorkflow(options: CopyOptions): Workflow<Input> {
  return {
    name: copyWorkflow,
    run: (input, step, context) =>
      step('COPY', () => context.fenced((sql) => copyEnvironment(sql, options, input.environmentId))),
    abandoned: async ({ environmentId }, reason, sql) => {
      options.log.warn({ environmentId, reason }, 'the copy of an environment could not be made')
      await deleteCopy(sql, environmentId)
    },
  }
}

async function copyEnvironment(sql: Sql, options: CopyOptions, id: string): Promise<void> {
  const sourceId = await lockCopy(sql, id)
  if (sourceId === undefined) return
  const held = await holdSource(sql, sourceId)
  const [source, copy] = [await findEnvironment(sql, sourceId), await findEnvironment(sql, id)]
  if (!held || !source || !copy) throw new Error('the environment that was to be copied does not exist any more')
  await copyStages(sql, source, copy, options.clock.now())
  const originals = await listServices(sql, source.id)
  const services = new Map<string, string>()
  for (const from of originals) {
    services.set(from.id, await options.copyService(sql, { from, environment: copy, name: from.name }))
  }
  await skipCopies(
    sql,
    copiesOf(
      originals.filter(({ is_skipped }) => is_skipped),
      services,
    ),
  )
  await options.copyVariables(sql, { from: placeOf(source), to: placeOf(copy), services, withEnvironment: true })
  await setCopying(sql, copy.id, null)
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
