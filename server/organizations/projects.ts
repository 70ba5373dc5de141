import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { nameTaken } from './name-taken.ts'
import { deleteProject, insertProject, listProjects, type ProjectRow, updateProject } from './project-store.ts'

export interface ProjectRequest {
  readonly name: string
  readonly description?: string
}

export function createProjects({ database, clock }: { database: Database; clock: Clock }) {
  return {
    async list(organizationId: string) {
      return (await listProjects(database, organizationId)).map(projectRecord)
    },

    async create(organizationId: string, body: ProjectRequest) {
      const name = checkName('name', body.name)
      const row = { id: newId(), organization_id: organizationId, name, description: body.description ?? '' }
      const inserted = await inTransaction(database, (sql) => insertProject(sql, { ...row, now: clock.now() })).catch(
        nameTaken('A project', name),
      )
      return projectRecord(inserted)
    },

    async edit(project: ProjectRow, body: ProjectRequest) {
      const name = checkName('name', body.name)
      const change = { name, ...(body.description === undefined ? {} : { description: body.description }) }
      const row = await inTransaction(database, (sql) => updateProject(sql, project.id, change, clock.now())).catch(
        nameTaken('A project', name),
      )
      return projectRecord(row ?? project)
    },

    async remove(project: ProjectRow): Promise<void> {
      if (!(await inTransaction(database, (sql) => deleteProject(sql, project.id)))) {
        throw new AppError('conflict', `Project "${project.name}" still has environments; delete them first.`)
      }
    },
  }
}

/** The row as the API returns it. */
export const projectRecord = (row: ProjectRow) => ({ ...row, organization: { id: row.organization_id } })
