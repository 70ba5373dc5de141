import type { ClusterState } from '@quayside/contract/enums.ts'
import type { CloudVendor } from '@quayside/contract/providers.ts'
import type { KubernetesMode } from '@quayside/contract/resources/cluster.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { takeRoom } from '../limits/index.ts'
import { insertCredentials } from './credentials-store.ts'
import { reachingEngine } from './engine-name.ts'
import type { Health } from './health-store.ts'
import type { ClusterSettings } from './settings.ts'

export interface ClusterRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly description: string
  readonly region: string
  readonly cloud_provider: CloudVendor
  readonly kubernetes: KubernetesMode
  readonly is_default: boolean
  readonly is_demo: boolean
  readonly production: boolean
  readonly status: ClusterState
  readonly last_deployment_date: Date | null
  /** The name of the engine that runs its workloads. Null if this installation runs none there. */
  readonly engine: string | null
  readonly credentials_id: string | null
  readonly credentials_name: string | null
  readonly settings: Partial<ClusterSettings>
  readonly advanced_settings: Readonly<Record<string, unknown>>
  readonly routes: readonly RouteEntry[]
  readonly sealed_kubeconfig: string | null
  readonly dns_provider: DnsSettings | null
  readonly sealed_dns_secrets: string | null
  readonly config_version: number
  readonly deployed_config_version: number | null
  readonly platform_version: string
  readonly operation_number: number
  readonly labels_groups: readonly string[]
  /** The lock, until it expires. */
  readonly lock_reason: string | null
  readonly lock_ttl_in_days: number | null
  readonly lock_locked_at: Date | null
  readonly lock_owner_name: string | null
  /** What a connected cluster last reported. Null before that. */
  readonly health_state: Health['state'] | null
  readonly health_since: Date | null
  readonly health_reason: string | null
  readonly kubernetes_version: string | null
  readonly node_count: number | null
  readonly cpu_milli: number | null
  readonly memory_mib: number | null
}

export interface RouteEntry {
  readonly destination: string
  readonly target: string
  readonly description: string
}

/** Has no secrets. */
export interface DnsSettings {
  readonly provider: 'QOVERY' | 'CLOUDFLARE' | 'ROUTE53'
  readonly domain: string
  readonly [field: string]: unknown
}

/** Returns the name of the engine that reaches the cluster. Null if nothing does. */
export async function engineOfCluster(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<Pick<ClusterRow, 'id' | 'engine' | 'kubernetes' | 'sealed_kubeconfig'>[]>`
    select id, engine, kubernetes, sealed_kubeconfig from cluster where id = ${id}`
  return row ? reachingEngine(row) : null
}

/** A lock expires by itself. */
export const holdsLock = (sql: Sql) =>
  sql`(l.ttl_in_days is null or l.locked_at + make_interval(days => l.ttl_in_days) > now())`

const from = (sql: Sql) => sql`
  select c.*, c.config_version::integer as config_version,
    c.deployed_config_version::integer as deployed_config_version, d.name as credentials_name,
    array(select g.group_id from cluster_tag_group g where g.cluster_id = c.id order by g.group_id) as labels_groups,
    l.reason as lock_reason, l.ttl_in_days as lock_ttl_in_days, l.locked_at as lock_locked_at,
    l.owner_name as lock_owner_name, h.state as health_state, h.since as health_since, h.reason as health_reason,
    h.kubernetes_version, h.node_count, h.cpu_milli::float8 as cpu_milli, h.memory_mib::float8 as memory_mib
  from cluster c left join cluster_health h on h.cluster_id = c.id left join credentials d on d.id = c.credentials_id
    left join cluster_lock l on l.cluster_id = c.id and ${holdsLock(sql)}`

/** Returns the cluster as the target of a request. */
export const clusterTarget = (sql: Sql, id: string) => sql`${from(sql)} where c.id = ${id}`

export const listClusters = (sql: Sql, organizationId: string) =>
  sql<ClusterRow[]>`${from(sql)} where c.organization_id = ${organizationId} order by c.created_at, c.id`

/** Returns the organization of a cluster. */
export async function organizationOfCluster(sql: Sql, id: string): Promise<string | undefined> {
  const [row] = await sql<{ organization_id: string }[]>`select organization_id from cluster where id = ${id}`
  return row?.organization_id
}

/** Returns the organization's cluster with this id. Without an id, its default cluster. */
export async function findCluster(
  sql: Sql,
  organizationId: string,
  id: string | undefined,
): Promise<ClusterRow | undefined> {
  const [row] = await sql<ClusterRow[]>`
    ${from(sql)} where c.organization_id = ${organizationId}
      and ${id === undefined ? sql`c.is_default` : sql`c.id = ${id}`}`
  return row
}

/** Returns the same, and locks it until the transaction ends. */
export async function lockCluster(sql: Sql, organizationId: string, id: string): Promise<ClusterRow | undefined> {
  await sql`select from cluster where id = ${id} and organization_id = ${organizationId} for update`
  return findCluster(sql, organizationId, id)
}

export type ClusterValues = Pick<ClusterRow, 'name' | 'description' | 'region' | 'production' | 'credentials_id'> & {
  readonly settings: ClusterSettings
}

const columns = (sql: Sql, { settings, ...values }: ClusterValues) => ({
  ...values,
  // Members with any content were parsed from JSON.
  settings: sql.json(JSON.parse(JSON.stringify(settings))),
})

export async function insertCluster(
  sql: Sql,
  row: ClusterValues & Pick<ClusterRow, 'id' | 'organization_id' | 'cloud_provider' | 'kubernetes'>,
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'clusters', row.organization_id)
  await sql`insert into cluster
    ${sql({ ...row, ...columns(sql, row), status: 'READY', created_at: now, updated_at: now })}`
}

/** `matters` means that the next deployment of the cluster changes something there. */
export async function updateCluster(
  sql: Sql,
  id: string,
  values: ClusterValues,
  { now, matters }: { now: Date; matters: boolean },
): Promise<void> {
  await sql`
    update cluster set ${sql({ ...columns(sql, values), updated_at: now })}, version = version + 1,
      config_version = config_version + ${matters ? 1 : 0}
    where id = ${id}`
}

export async function countEnvironments(sql: Sql, clusterId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from environment where cluster_id = ${clusterId}`
  return row?.count ?? 0
}

/** Makes the cluster a record that nothing reaches. */
export async function forgetConnection(sql: Sql, id: string): Promise<void> {
  await sql`update cluster set engine = null, sealed_kubeconfig = null where id = ${id}`
}

export async function deleteCluster(sql: Sql, id: string): Promise<void> {
  await sql`delete from cluster where id = ${id}`
}

/**
 * Inserts the built-in cluster with its credentials: the machine itself. It is deployed already.
 */
export async function insertBuiltInCluster(
  sql: Sql,
  row: { id: string; organization_id: string; name: string; now: Date },
): Promise<void> {
  const { id, organization_id, name, now } = row
  const credentials = { id: newId(), organization_id, cloud_provider: 'ON_PREMISE', object_type: 'OTHER' } as const
  await insertCredentials(sql, { ...credentials, variant: 'ON_PREMISE', name, settings: {} }, now)
  await sql`
    insert into cluster (id, organization_id, created_at, updated_at, name, description, region, cloud_provider,
      kubernetes, is_default, is_demo, last_deployment_date, engine, credentials_id, deployed_config_version)
    values (${id}, ${organization_id}, ${now}, ${now}, ${name}, 'This machine', 'on-premise',
      'ON_PREMISE', 'SELF_MANAGED', true, true, ${now}, 'local', ${credentials.id}, 1)`
}

/** Inserts the cluster in which the server runs, with a domain of its own. It is not deployed. */
export async function insertOwnCluster(
  sql: Sql,
  row: { id: string; organization_id: string; name: string; domain: string; now: Date },
): Promise<void> {
  const { id, organization_id, name, domain, now } = row
  const credentials = { id: newId(), organization_id, cloud_provider: 'ON_PREMISE', object_type: 'OTHER' } as const
  await insertCredentials(sql, { ...credentials, variant: 'ON_PREMISE', name, settings: {} }, now)
  await sql`
    insert into cluster (id, organization_id, created_at, updated_at, name, description, region, cloud_provider,
      kubernetes, is_default, is_demo, status, dns_provider, credentials_id)
    values (${id}, ${organization_id}, ${now}, ${now}, ${name}, 'The cluster of this server', 'on-premise',
      'ON_PREMISE', 'SELF_MANAGED', true, false, 'READY', ${sql.json({ provider: 'QOVERY', domain })},
      ${credentials.id})`
}
