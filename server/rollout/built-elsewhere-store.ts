import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import type { ReleaseRow, Versioned } from '../releases/index.ts'

/** An image that was built for another service, with its owner. */
export interface BuiltElsewhere {
  readonly digest: string
  readonly kind: KindName
  readonly service: string
  readonly environment: string
  readonly project_id: string
}

/**
 * The most candidates to try. With more, all have the same image or none has one that still exists.
 */
const mostAsked = 10

/**
 * Lists the images of the same identity among the kept versions of the organization's other
 * services, newest first.
 */
export async function listBuiltElsewhere(
  sql: Sql,
  { organizationId, serviceId, identity }: { organizationId: string; serviceId: string; identity: string },
): Promise<BuiltElsewhere[]> {
  return await sql<BuiltElsewhere[]>`
    select digest, kind, service, environment, project_id from (
      select distinct on (r.image ->> 'digest') r.image ->> 'digest' as digest, s.kind, s.name as service,
        e.name as environment, e.project_id, r.created_at
      from release r join service s on s.id = r.service_id join environment e on e.id = s.environment_id
        join project p on p.id = e.project_id
      where r.is_kept and r.image ->> 'identity' = ${identity} and s.id <> ${serviceId}
        and p.organization_id = ${organizationId}
      order by r.image ->> 'digest', e.project_id = (
        select oe.project_id from service o join environment oe on oe.id = o.environment_id where o.id = ${serviceId}
      ) desc, r.created_at desc
    ) found order by created_at desc limit ${mostAsked}`
}

/** Lists the newest version of each other service of the organization whose image may be reused. */
export async function listBuilds(
  sql: Sql,
  { organizationId, serviceId, url }: { organizationId: string; serviceId: string; url: string },
): Promise<(BuiltElsewhere & Versioned & Pick<ReleaseRow, 'advanced_settings'>)[]> {
  return await sql<(BuiltElsewhere & Versioned & Pick<ReleaseRow, 'advanced_settings'>)[]>`
    select distinct on (s.id) s.kind, r.settings, r.advanced_settings, r.image ->> 'digest' as digest, s.name as
    service,
      e.name as environment, e.project_id
    from release r join service s on s.id = r.service_id join environment e on e.id = s.environment_id
      join project p on p.id = e.project_id
    where r.is_kept and r.image ->> 'identity' is not null and s.id <> ${serviceId}
      and p.organization_id = ${organizationId}
      and r.repository_url = ${url}
    order by s.id, r.created_at desc`
}
