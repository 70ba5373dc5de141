import type { ClusterState } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'

export interface ClusterRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly region: string
  readonly cloud_provider: string
  readonly kubernetes: string
  readonly is_default: boolean
  readonly is_demo: boolean
  readonly production: boolean
  readonly status: ClusterState
  readonly last_deployment_date: Date | null
}

export const listClusters = (sql: Sql, organizationId: string) =>
  sql<ClusterRow[]>`select * from cluster where organization_id = ${organizationId} order by created_at, id`

/** The organization's cluster of that id; without an id its default one. */
export async function findCluster(
  sql: Sql,
  organizationId: string,
  id: string | undefined,
): Promise<ClusterRow | undefined> {
  const [row] = await sql<ClusterRow[]>`
    select * from cluster where organization_id = ${organizationId}
      and ${id === undefined ? sql`is_default` : sql`id = ${id}`}`
  return row
}

/** The built-in cluster: the machine itself. Deployed from the start. */
export async function insertBuiltInCluster(
  sql: Sql,
  row: { id: string; organization_id: string; name: string; now: Date },
): Promise<void> {
  await sql`
    insert into cluster (id, organization_id, created_at, updated_at, name, description, region, cloud_provider,
      kubernetes, is_default, is_demo, last_deployment_date)
    values (${row.id}, ${row.organization_id}, ${row.now}, ${row.now}, ${row.name}, 'This machine', 'on-premise',
      'ON_PREMISE', 'SELF_MANAGED', true, true, ${row.now})`
}
