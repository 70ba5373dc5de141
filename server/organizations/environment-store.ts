import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export type EnvironmentMode = 'DEVELOPMENT' | 'PREVIEW' | 'PRODUCTION' | 'STAGING'

export interface EnvironmentRow {
  readonly id: string
  readonly organization_id: string
  readonly project_id: string
  readonly project_name: string
  readonly cluster_id: string
  readonly cluster_name: string
  readonly cluster_engine: string | null
  readonly cloud_provider: string
  readonly region: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly last_updated_by: string | null
  readonly name: string
  readonly mode: EnvironmentMode
  readonly deleting: boolean
  /** The source environment until the copy is complete. */
  readonly copying: string | null
}

const from = (sql: Sql) => sql`
  select e.*, p.organization_id, p.name as project_name, c.name as cluster_name,
    c.engine as cluster_engine, c.cloud_provider, c.region
  from environment e join project p on p.id = e.project_id join cluster c on c.id = e.cluster_id`

/** Selects the environment as the target of a request. */
export const environmentTarget = (sql: Sql, id: string) => sql`${from(sql)} where e.id = ${id}`

export const listEnvironments = (sql: Sql, projectId: string) =>
  sql<EnvironmentRow[]>`${from(sql)} where e.project_id = ${projectId} order by e.created_at, e.id`

export async function findEnvironment(sql: Sql, id: string): Promise<EnvironmentRow | undefined> {
  const [row] = await sql<EnvironmentRow[]>`${from(sql)} where e.id = ${id}`
  return row
}

/** Returns the name of the engine of the environment's cluster; null if it has none. */
export async function engineOfEnvironment(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ engine: string | null }[]>`
    select c.engine from environment e join cluster c on c.id = e.cluster_id where e.id = ${id}`
  return row?.engine ?? null
}

export async function insertEnvironment(
  sql: Sql,
  row: {
    id: string
    project_id: string
    cluster_id: string
    name: string
    mode: EnvironmentMode
    by: string
    now: Date
  },
): Promise<void> {
  await takeRoom(sql, 'environments', row.project_id)
  await sql`
    insert into environment (id, project_id, cluster_id, created_at, updated_at, last_updated_by, name, mode)
    values (${row.id}, ${row.project_id}, ${row.cluster_id}, ${row.now}, ${row.now}, ${row.by}, ${row.name},
    ${row.mode})`
}

export async function updateEnvironment(
  sql: Sql,
  id: string,
  change: { name?: string; mode?: EnvironmentMode },
  by: string,
  now: Date,
): Promise<void> {
  await sql`update environment set ${sql({ ...change, updated_at: now, last_updated_by: by })}, version = version + 1
    where id = ${id}`
}

export async function insertStages(
  sql: Sql,
  environmentId: string,
  stages: readonly { id: string; name: string }[],
  now: Date,
): Promise<void> {
  const rows = stages.map(({ id, name }, deployment_order) => ({
    id,
    name,
    deployment_order,
    environment_id: environmentId,
    created_at: now,
    updated_at: now,
  }))
  await sql`insert into deployment_stage ${sql(rows)}`
}

export async function markEnvironmentDeleting(sql: Sql, id: string): Promise<void> {
  await sql`update environment set deleting = true where id = ${id}`
}

/** Deletes the row. Its services must be deleted or never deployed. */
export async function deleteEnvironmentRow(sql: Sql, id: string): Promise<void> {
  await sql`delete from service where environment_id = ${id}`
  await sql`delete from environment where id = ${id}`
}
