import type { ServiceType } from '@quayside/contract/enums.ts'
import type { ClusterTls } from '@quayside/contract/routes.ts'
import type { Sql } from '../database/index.ts'
import type { DnsSettings, RouteEntry } from './cluster-store.ts'

export async function updateRoutes(sql: Sql, id: string, routes: readonly RouteEntry[], now: Date): Promise<void> {
  const entries = sql.json(routes.map((route) => ({ ...route })))
  await sql`
    update cluster set routes = ${entries}, config_version = config_version + 1, updated_at = ${now} where id = ${id}`
}

export async function updateAdvanced(
  sql: Sql,
  id: string,
  values: Readonly<Record<string, unknown>>,
  now: Date,
): Promise<void> {
  // It was parsed from a request, so all of it is JSON.
  await sql`
    update cluster set advanced_settings = ${sql.json(JSON.parse(JSON.stringify(values)))},
      config_version = config_version + 1, updated_at = ${now}
    where id = ${id}`
}

export async function updateKubeconfig(sql: Sql, id: string, sealed: string, now: Date): Promise<void> {
  await sql`update cluster set sealed_kubeconfig = ${sealed}, updated_at = ${now} where id = ${id}`
}

/** The place of a kubeconfig, by which it is sealed. */
export const kubeconfigCell = (id: string) => ({ table: 'cluster', row: id, column: 'sealed_kubeconfig' })

/** Stores a sealed text as the kubeconfig of a cluster that can have one and has none. */
export async function takeKubeconfig(sql: Sql, id: string, seal: () => Promise<string>, now: Date): Promise<void> {
  const [row] = await sql`
    select from cluster where id = ${id} and sealed_kubeconfig is null and kubernetes = 'SELF_MANAGED'
      and engine is distinct from 'local' for update`
  if (row) await updateKubeconfig(sql, id, await seal(), now)
}

export async function updateDns(
  sql: Sql,
  id: string,
  dns: { readonly settings: DnsSettings | null; readonly sealed: string | null },
  now: Date,
): Promise<void> {
  await sql`
    update cluster set dns_provider = ${dns.settings && sql.json(JSON.parse(JSON.stringify(dns.settings)))},
      sealed_dns_secrets = ${dns.sealed}, config_version = config_version + 1, updated_at = ${now}
    where id = ${id}`
}

/** Returns the settings of a cluster for certificates. Undefined if it has none. */
export async function tlsOfCluster(sql: Sql, id: string): Promise<ClusterTls | undefined> {
  const [row] = await sql<ClusterTls[]>`
    select traffic_domain as domain, tls_secret as secret, tls_issuer as issuer, tls_by_controller as "byController"
    from cluster where id = ${id} and traffic_domain is not null
      and (tls_secret is not null or tls_issuer is not null or tls_by_controller)`
  return row
}

export interface ClusterEnvironmentRow {
  readonly environment_id: string
  readonly environment_name: string
  readonly mode: string
  readonly project_id: string
  readonly project_name: string
  readonly services: readonly { readonly id: string; readonly name: string; readonly type: ServiceType }[]
}

export const listEnvironmentsOf = (sql: Sql, clusterId: string) =>
  sql<ClusterEnvironmentRow[]>`
    select e.id as environment_id, e.name as environment_name, e.mode, p.id as project_id, p.name as project_name,
      coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name, 'type', upper(s.kind))
        order by s.created_at, s.id) from service s where s.environment_id = e.id), '[]') as services
    from environment e join project p on p.id = e.project_id
    where e.cluster_id = ${clusterId} order by e.created_at, e.id`

/** Whether a service of an environment runs, or may have left something that runs. */
export async function hasRunningService(sql: Sql, environmentId: string): Promise<boolean> {
  const [row] = await sql`
    select from service where environment_id = ${environmentId} and state not in ('READY', 'STOPPED', 'DELETED')
    limit 1`
  return row !== undefined
}

/** Whether a deployment request of an environment waits or runs. */
export async function hasOpenRequest(sql: Sql, environmentId: string): Promise<boolean> {
  const open = await sql`
    select from deployment_request where environment_id = ${environmentId}
      and status in ('QUEUED', 'ONGOING', 'CANCELING') limit 1`
  return open.length > 0
}
