import { defaultStages } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
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

/** Throws AppError `forbidden` where the caller may not make environments of that mode on that cluster. */
export type RequireNew = (place: { projectId: string; mode: EnvironmentMode; clusterId: string }) => void

export interface EnvironmentsOptions {
  readonly database: Database
  readonly clock: Clock
  /** The organization's cluster of that id, or its default one; undefined when there is none. */
  readonly findCluster: (sql: Sql, organizationId: string, id: string | undefined) => Promise<string | undefined>
  /** Gives a new environment its deployment rule. */
  readonly giveRule?: (sql: Sql, environment: { id: string; project_id: string; name: string }) => Promise<void>
}

export function createEnvironments({ database, clock, findCluster, giveRule }: EnvironmentsOptions) {
  return {
    async list(projectId: string) {
      return (await listEnvironments(database, projectId)).map(environmentRecord)
    },

    /** Makes the environment and its default stages. `requireNew` refuses who may not make one there. */
    async create(project: ProjectRow, callerId: string, body: EnvironmentCreate, requireNew?: RequireNew) {
      const name = checkName('name', body.name)
      if (body.cluster && body.cluster_id && body.cluster !== body.cluster_id) {
        throw new AppError('invalid', 'cluster and cluster_id mean the same; give one of them, or the same id twice.')
      }
      const wanted = body.cluster_id ?? body.cluster ?? undefined
      const id = newId()
      const row = await inTransaction(database, async (sql) => {
        const now = clock.now()
        const cluster_id = await findCluster(sql, project.organization_id, wanted)
        if (!cluster_id) throw new AppError('notFound', 'cluster_id: there is no such cluster.')
        const mode = body.mode ?? 'DEVELOPMENT'
        requireNew?.({ projectId: project.id, mode, clusterId: cluster_id })
        await insertEnvironment(sql, { id, project_id: project.id, cluster_id, name, mode, by: callerId, now })
        await insertStages(
          sql,
          id,
          defaultStages.map((stage) => ({ id: newId(), name: stage })),
          now,
        )
        await giveRule?.(sql, { id, project_id: project.id, name })
        return findEnvironment(sql, id)
      }).catch(nameTaken('An environment', name))
      return environmentRecord(existing(row))
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
      return environmentRecord(existing(row))
    },
  }
}

function existing(row: EnvironmentRow | undefined): EnvironmentRow {
  if (!row) throw new AppError('notFound', 'There is no such object.')
  return row
}

/** The row as the API answers it. */
export const environmentRecord = (row: EnvironmentRow) => ({
  ...row,
  organization: { id: row.organization_id },
  project: { id: row.project_id },
  cloud_provider: { provider: row.cloud_provider, cluster: row.region },
  expires_at: null,
})
