import type { Sql } from '../database/index.ts'
import type { EndedDeployment } from './ended-deployments.ts'
import type { ServiceTotal } from './service-families.ts'

/** Services of one answer at most. Each has about 7 kB. */
export const mostServices = 5_000

/** Lists all traffic of the services of an organization, or of the first ones of everybody. */
export const listTotals = (sql: Sql, organizationId?: string) => sql<ServiceTotal[]>`
  select o.id as organization_id, o.name as organization, p.id as project_id, p.name as project,
    e.id as environment_id, e.name as environment, e.mode, s.id as service_id, s.name as service, s.kind, t.counts
  from traffic_total t join service s on s.id = t.service_id join environment e on e.id = s.environment_id
    join project p on p.id = e.project_id join organization o on o.id = p.organization_id
  where ${organizationId === undefined ? sql`true` : sql`o.id = ${organizationId}`}
  order by o.id, p.id, e.id, s.id limit ${organizationId === undefined ? mostServices : null}`

/** Lists the deployments that ended after a time. None has a negative duration. */
export const listEnded = (sql: Sql, from: Date) => sql<EndedDeployment[]>`
  select id, action, status,
    greatest(extract(epoch from finished_at - coalesce(started_at, created_at)), 0)::float8 as seconds
  from deployment_request where finished_at > ${from}`

/** One figure of a kind, such as the number of services in a state. */
export interface Figure {
  readonly figure: 'deployment' | 'workflow' | 'service' | 'backup'
  readonly label: string
  readonly value: number
}

/** Counts rows of the platform by their states. */
export const countStates = (sql: Sql) => sql<Figure[]>`
  select 'deployment' as figure, status as label, count(*)::int as value from deployment_request
    where status in ('QUEUED', 'ONGOING', 'CANCELING') group by status
  union all select 'workflow', state, count(*)::int from workflow
    where state in ('queued', 'running', 'parked') group by state
  union all select 'service', state, count(*)::int from service group by state
  union all select 'backup', state, count(*)::int from backup group by state`

export interface DatabaseFigures {
  readonly bytes: number
  readonly connections: number
  readonly commits: number
  readonly rollbacks: number
}

export async function readDatabaseFigures(sql: Sql): Promise<DatabaseFigures> {
  const [row] = await sql<DatabaseFigures[]>`
    select pg_database_size(datname)::float8 as bytes, numbackends as connections, xact_commit::float8 as commits,
      xact_rollback::float8 as rollbacks
    from pg_stat_database where datname = current_database()`
  return row ?? { bytes: 0, connections: 0, commits: 0, rollbacks: 0 }
}

/** Returns how many services have traffic. */
export async function countTotals(sql: Sql): Promise<number> {
  const [row] = await sql<{ services: number }[]>`select count(*)::int as services from traffic_total`
  return row?.services ?? 0
}

/** Certificates of one answer at most. */
const mostCertificates = 1_000

/** Lists the hosts whose certificates expire first. */
export const listExpiries = (sql: Sql) => sql<{ host: string; not_after: Date; failures: number }[]>`
  select host, not_after, failures from host_certificate where not_after is not null
  order by not_after, host limit ${mostCertificates}`

/** Returns how many hosts the list does not have. */
export async function countUnlistedExpiries(sql: Sql): Promise<number> {
  const [row] = await sql<{ hosts: number }[]>`
    select count(*)::int as hosts from host_certificate where not_after is not null`
  return Math.max((row?.hosts ?? 0) - mostCertificates, 0)
}
