import { afterCommit, type Database, inTransaction, type Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId, newRandomId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { takeRoom } from '../limits/index.ts'
import {
  type EnvironmentMode,
  type EnvironmentRow,
  environmentRecord,
  findEnvironment,
  insertEnvironment,
  nameTaken,
} from '../organizations/index.ts'
import { listServices } from '../services/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { hasUnfinishedCopy, isProjectOf, setCopying } from './clone-store.ts'
import { type CopyIds, copyEnvironment, type RowCopyOptions } from './copy-environment.ts'
import { insertEnvironmentCopy } from './copy-record-store.ts'
import { copyWorkflow } from './copy-workflow.ts'
import { findEnvironmentRule, insertEnvironmentRule } from './rule-store.ts'
import type { createRules } from './rules.ts'

export interface CloneRequest {
  readonly name: string
  readonly cluster_id?: string | null
  readonly mode?: EnvironmentMode | null
  readonly project_id?: string | null
  readonly apply_deployment_rule?: boolean | null
  /** Whether the contents of volumes and databases are copied. */
  readonly with_data?: boolean | null
}

export interface CloneOptions extends RowCopyOptions {
  readonly database: Database
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
  readonly rules: Pick<ReturnType<typeof createRules>, 'find' | 'give'>
  /** Returns the organization's cluster with that id. Undefined when it has none. */
  readonly findCluster: (sql: Sql, organizationId: string, id: string) => Promise<string | undefined>
}

/** The user who requests a copy. */
export interface Copier {
  readonly id: string
  /** Throws 403 if the user may not create such an environment. */
  readonly requireNew: (place: { projectId: string; mode: EnvironmentMode; clusterId: string }) => void
}

/**
 * Copies environments. The new environment exists at once, with its rule. Its stages, services and
 * variables are written together: immediately for a copy with data, otherwise by a workflow. Until
 * the copy is complete, nothing else may change it.
 */
export function createClone(options: CloneOptions) {
  const { database, clock, workflows, rules, findCluster } = options
  /**
   * Returns the place and rule of the copy. Values missing from the request come from the rule,
   * then from the source. Throws a 404 that names the field.
   */
  const placeOf = async (sql: Sql, source: EnvironmentRow, name: string, body: CloneRequest) => {
    const project_id = body.project_id?.toLowerCase() ?? source.project_id
    if (!(await isProjectOf(sql, source.organization_id, project_id))) {
      throw notFound('project', body.project_id ?? project_id, { field: 'project_id' })
    }
    const rule = body.apply_deployment_rule ? await rules.find(sql, project_id, name) : undefined
    const wanted = body.cluster_id ?? rule?.cluster_id ?? source.cluster_id
    const cluster_id = await findCluster(sql, source.organization_id, wanted)
    if (!cluster_id) throw notFound('cluster', wanted, { field: 'cluster_id' })
    return { rule, project_id, cluster_id, mode: body.mode ?? rule?.mode ?? source.mode }
  }
  const copyRule = async (sql: Sql, source: EnvironmentRow, environment_id: string): Promise<void> => {
    const former = await findEnvironmentRule(sql, source.id)
    await insertEnvironmentRule(sql, { id: newId(), environment_id }, former ? valuesOf(former) : {}, clock.now())
  }

  return async (source: EnvironmentRow, by: Copier, body: CloneRequest) => {
    const name = checkName('name', body.name)
    if (source.deleting) throw new AppError('conflict', `Environment "${source.name}" is being deleted.`)
    const id = newId()
    const row = await inTransaction(database, async (sql) => {
      const { rule, ...place } = await placeOf(sql, source, name, body)
      if (await hasUnfinishedCopy(sql, source.id)) {
        throw new AppError(
          'conflict',
          `A service of environment "${source.name}" is being copied or restored. Try again later.`,
        )
      }
      by.requireNew({ projectId: place.project_id, mode: place.mode, clusterId: place.cluster_id })
      await insertEnvironment(sql, { id, ...place, name, by: by.id, now: clock.now() })
      await takeRoom(sql, 'services', id, (await listServices(sql, source.id)).length)
      await setCopying(sql, id, source.id)
      await insertEnvironmentCopy(sql, { id, sourceId: source.id, withData: body.with_data === true, now: clock.now() })
      if (body.apply_deployment_rule) await rules.give(sql, id, rule)
      else await copyRule(sql, source, id)
      // The key is the environment, so its deployments wait for the copy.
      const input = { environmentId: id, withData: body.with_data === true }
      const countsFor = { environmentId: id }
      await workflows.submit(sql, { id, kind: copyWorkflow, key: id, input, countsFor })
      // From here on, deployments of the copy can be requested. They wait for its data.
      if (body.with_data) await copyEnvironment(sql, options, { id, withData: true, ids: await newIds(sql, source) })
      return findEnvironment(sql, id)
    }).catch(nameTaken('An environment', name))
    afterCommit(() => workflows.nudge())
    if (!row) throw notFound('environment', source.id)
    return environmentRecord(row)
  }
}

async function newIds(sql: Sql, source: EnvironmentRow): Promise<CopyIds> {
  return Object.fromEntries((await listServices(sql, source.id)).map(({ id }) => [id, newRandomId()]))
}

/** The values of a rule, without its ids. */
function valuesOf(rule: NonNullable<Awaited<ReturnType<typeof findEnvironmentRule>>>) {
  const { on_demand_preview, auto_preview, auto_stop, timezone, start_time, stop_time, weekdays } = rule
  return { on_demand_preview, auto_preview, auto_stop, timezone, start_time, stop_time, weekdays }
}
