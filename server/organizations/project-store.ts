import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export interface ProjectRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly associated_environments_count: number
}

const columns = (sql: Sql) => sql`
  p.*, (select count(*)::int from environment e where e.project_id = p.id) as associated_environments_count`

/** Selects the project as the target of a request. */
export const projectTarget = (sql: Sql, id: string) => sql`select ${columns(sql)} from project p where p.id = ${id}`

export const listProjects = (sql: Sql, organizationId: string) =>
  sql<ProjectRow[]>`
    select ${columns(sql)} from project p where p.organization_id = ${organizationId} order by p.created_at, p.id`

export async function insertProject(
  sql: Sql,
  row: { id: string; organization_id: string; name: string; description: string; now: Date },
): Promise<ProjectRow> {
  await takeRoom(sql, 'projects', row.organization_id)
  const [inserted] = await sql<ProjectRow[]>`
    insert into project (id, organization_id, created_at, updated_at, name, description)
    values (${row.id}, ${row.organization_id}, ${row.now}, ${row.now}, ${row.name}, ${row.description})
    returning *, 0 as associated_environments_count`
  if (!inserted) throw new Error('insert returned no row')
  return inserted
}

export async function updateProject(
  sql: Sql,
  id: string,
  change: { name: string; description?: string },
  now: Date,
): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    with changed as (update project set ${sql({ ...change, updated_at: now })}, version = version + 1
      where id = ${id} returning *)
    select ${columns(sql)} from changed p`
  return row
}

/** Returns false while the project has environments. */
export async function deleteProject(sql: Sql, id: string): Promise<boolean> {
  await sql`select id from project where id = ${id} for no key update`
  const deleted = await sql`
    delete from project p where p.id = ${id} and not exists (select from environment e where e.project_id = p.id)`
  return deleted.count === 1
}
