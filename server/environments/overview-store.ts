import type { ServiceType } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

export interface LightServiceRow {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly icon_uri: string
  readonly service_type: ServiceType
  readonly project_id: string
  readonly project_name: string
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: EnvironmentMode
  readonly cluster_id: string
  /** Null unless the service is a job. */
  readonly job_type: 'CRON' | 'LIFECYCLE' | null
}

/** A filter of the organization's services. Undefined members match everything. */
export interface ServiceFilter {
  readonly project_id?: string
  readonly environment_id?: string
  readonly cluster_id?: string
}

export const listLightServices = (sql: Sql, organizationId: string, filter: ServiceFilter) =>
  sql<LightServiceRow[]>`
    select s.id, s.name, s.description, s.settings ->> 'icon_uri' as icon_uri, upper(s.kind) as service_type,
      e.project_id, p.name as project_name, e.id as environment_id, e.name as environment_name, e.mode as
      environment_mode, e.cluster_id,
      s.job_type
    from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    where p.organization_id = ${organizationId}
      ${filter.project_id ? sql`and p.id = ${filter.project_id}` : sql``}
      ${filter.environment_id ? sql`and e.id = ${filter.environment_id}` : sql``}
      ${filter.cluster_id ? sql`and e.cluster_id = ${filter.cluster_id}` : sql``}
    order by p.created_at, p.id, e.created_at, e.id, s.created_at, s.id`

export const listOrganizationEnvironments = (sql: Sql, organizationId: string) =>
  sql<
    {
      id: string
      created_at: Date
      updated_at: Date
      name: string
      mode: EnvironmentMode
      organization_id: string
      project_id: string
    }[]
  >`
    select e.id, e.created_at, e.updated_at, e.name, e.mode, p.organization_id, e.project_id
    from environment e join project p on p.id = e.project_id
    where p.organization_id = ${organizationId} order by p.created_at, p.id, e.created_at, e.id`

export const countServices = (sql: Sql, projectId: string) =>
  sql<{ id: string; mode: EnvironmentMode; service_total_number: number }[]>`
    select e.id, e.mode, count(s.id)::int as service_total_number
    from environment e left join service s on s.environment_id = e.id
    where e.project_id = ${projectId} group by e.id order by e.created_at, e.id`

export const countOfProjects = (sql: Sql, organizationId: string) =>
  sql<{ id: string; environment_total_number: number; service_total_number: number }[]>`
    select p.id, count(distinct e.id)::int as environment_total_number, count(s.id)::int as service_total_number
    from project p left join environment e on e.project_id = p.id left join service s on s.environment_id = e.id
    where p.organization_id = ${organizationId} group by p.id order by p.created_at, p.id`
