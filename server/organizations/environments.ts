import { defaultStages } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import {
  type EnvironmentMode,
  type EnvironmentRow,
  findEnvironment,
  insertEnvironment,
  insertStages,
  listEnvironments,
  updateEnvironment,
} from './environment-store.ts'
import { nameTaken } from './name-taken.ts'
import type { ProjectRow } from './project-store.ts'

export interface EnvironmentCreate {
  readonly name: string
  readonly cluster?: string | null
  readonly cluster_id?: string | null
  readonly mode?: EnvironmentMode
}

/**
 * Throws AppError `forbidden` if the caller may not create environments of that mode on that
 * cluster.
 */
export type RequireNew = (place: { projectId: string; mode: EnvironmentMode; clusterId: string }) => void

export interface EnvironmentsOptions<Rule extends RulePlace = RulePlace> {
  readonly database: Database
  readonly clock: Clock
  /**
   * Returns the organization's cluster with that id, or its default cluster. Undefined if it does
   * not exist.
   */
  readonly findCluster: (sql: Sql, organizationId: string, id: string | undefined) => Promise<string | undefined>
  readonly rules: EnvironmentRules<Rule>
}

/** Deployment rules of projects, for new environments. */
export interface EnvironmentRules<Rule extends RulePlace> {
  /** Returns the first rule of the project that matches the name. */
  readonly find: (sql: Sql, projectId: string, name: string) => Promise<Rule | undefined>
  /** Sets the hours of a new environment to those of the rule, or to the default. */
  readonly give: (sql: Sql, environmentId: string, rule: Rule | undefined) => Promise<void>
}
/** The mode and cluster that a rule sets if the request does not. */
export interface RulePlace {
  readonly mode: EnvironmentMode
  readonly cluster_id: string
}

export function createEnvironments<Rule extends RulePlace>({
  database,
  clock,
  findCluster,
  rules,
}: EnvironmentsOptions<Rule>) {
  return {
    async list(projectId: string) {
      return (await listEnvironments(database, projectId)).map(environmentRecord)
    },

    /**
     * Creates an environment with its default stages. The project's deployment rule decides mode
     * and cluster if the request does not. `requireNew` throws if the caller must not create one
     * there.
     */
    async create(project: ProjectRow, callerId: string, body: EnvironmentCreate, requireNew?: RequireNew) {
      const name = checkName('name', body.name)
      if (body.cluster && body.cluster_id && body.cluster !== body.cluster_id) {
        throw new AppError('invalid', 'cluster and cluster_id mean the same. Send one of them, or the same id twice.')
      }
      const wanted = body.cluster_id ?? body.cluster ?? undefined
      const id = newId()
      const row = await inTransaction(database, async (sql) => {
        const now = clock.now()
        const rule = await rules.find(sql, project.id, name)
        const cluster_id = await findCluster(sql, project.organization_id, wanted ?? rule?.cluster_id)
        if (!cluster_id) throw notFound('cluster', wanted ?? rule?.cluster_id, { field: 'cluster_id' })
        const mode = body.mode ?? rule?.mode ?? 'DEVELOPMENT'
        requireNew?.({ projectId: project.id, mode, clusterId: cluster_id })
        await insertEnvironment(sql, { id, project_id: project.id, cluster_id, name, mode, by: callerId, now })
        await insertStages(
          sql,
          id,
          defaultStages.map((stage) => ({ id: newId(), name: stage })),
          now,
        )
        await rules.give(sql, id, rule)
        return findEnvironment(sql, id)
      }).catch(nameTaken('An environment', name))
      return environmentRecord(existing(row, id))
    },

    async edit(environment: EnvironmentRow, callerId: string, body: { name?: string; mode?: EnvironmentMode }) {
      const change = {
        ...(body.name === undefined ? {} : { name: checkName('name', body.name) }),
        ...(body.mode === undefined ? {} : { mode: body.mode }),
      }
      const row = await inTransaction(database, async (sql) => {
        await updateEnvironment(sql, environment.id, change, callerId, clock.now())
        return findEnvironment(sql, environment.id)
      }).catch(nameTaken('An environment', change.name))
      return environmentRecord(existing(row, environment.id))
    },
  }
}

function existing(row: EnvironmentRow | undefined, id: string): EnvironmentRow {
  if (!row) throw notFound('environment', id)
  return row
}

/** The row as the API returns it. */
export const environmentRecord = (row: EnvironmentRow) => ({
  ...row,
  organization: { id: row.organization_id },
  project: { id: row.project_id },
  cloud_provider: { provider: row.cloud_provider, cluster: row.region },
  expires_at: null,
})
