import type { Sql } from '../database/index.ts'
import { listServiceRoutes, type RouteRow } from './route-store.ts'
import type { MemberFacts } from './sign-in-rule.ts'

/** A query of the members of each organization with a service behind the sign-in. */
export const signInMembers = (sql: Sql) => sql`
  select m.organization_id, json_agg(json_build_object('account', m.account_id, 'role', m.role, 'custom_role_id',
    m.custom_role_id, 'custom_role_name', cr.name, 'custom_rights', m.custom_rights, 'permissions', m.permissions,
    'signed_out_ms', ceil(extract(epoch from a.signed_out_at) * 1000)) order by m.account_id) as members
  from member m join account a on a.id = m.account_id left join custom_role cr on cr.id = m.custom_role_id
  where m.organization_id in (
    select p.organization_id from service s join environment v on v.id = s.environment_id
      join project p on p.id = v.project_id where s.sign_in is not null)
  group by m.organization_id`

/** Reads the members of these of them. */
export async function readSignInMembers(
  sql: Sql,
  organizations: readonly string[],
): Promise<ReadonlyMap<string, readonly MemberFacts[]>> {
  const rows = await sql<{ organization_id: string; members: MemberFacts[] }[]>`
    select * from (${signInMembers(sql)}) m where organization_id = any(${[...organizations]}::uuid[])`
  return new Map(rows.map(({ organization_id, members }) => [organization_id, members]))
}

/** A service, and the facts that decide who may enter. */
export interface SignInRow {
  readonly name: string
  /** Null for a service that everybody may use. */
  readonly sign_in: string | null
  readonly project_id: string
  readonly mode: string
  readonly members: readonly MemberFacts[] | null
}

export async function findSignInService(sql: Sql, serviceId: string): Promise<SignInRow | undefined> {
  const [row] = await sql<SignInRow[]>`
    select s.name, s.sign_in, v.project_id, v.mode, m.members
    from service s join environment v on v.id = s.environment_id join project p on p.id = v.project_id
      left join (${signInMembers(sql)}) m on m.organization_id = p.organization_id
    where s.id = ${serviceId}`
  return row
}

/**
 * Finds the route by which a service answers at a host. A host of its own comes before a wildcard,
 * also if it belongs to another service.
 */
export async function findRouteAt(sql: Sql, serviceId: string, host: string): Promise<RouteRow | undefined> {
  const wildcard = `*${host.slice(host.indexOf('.'))}`
  const [exact] = await sql`select from route where host = ${host} and public_port is null limit 1`
  const wanted = exact ? host : wildcard
  const routes = await listServiceRoutes(sql, serviceId)
  return routes.find((route) => route.host === wanted && route.public_port === null)
}

/** Lists the custom roles of a service's organization. */
export const listCustomRoles = (sql: Sql, serviceId: string) => sql<{ id: string; name: string }[]>`
  select r.id, r.name from custom_role r join project p on p.organization_id = r.organization_id
    join environment v on v.project_id = p.id join service s on s.environment_id = v.id
  where s.id = ${serviceId} order by r.created_at, r.id`
