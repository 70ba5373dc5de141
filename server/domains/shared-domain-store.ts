import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import type { RouteRow } from './route-store.ts'

/**
 * Pure: selects the routes of a service that also answer at its custom domains, one per port. The
 * default port's route comes first.
 */
export function sharedRoutes<R extends Pick<RouteRow, 'port_name' | 'path'>>(own: readonly R[]): readonly R[] {
  const ports = [...new Map(own.toReversed().map((route) => [route.port_name, route])).values()].toReversed()
  return ports.filter(({ path }, index) => index === 0 || path !== '/')
}

/** Selects the platform's own HTTP routes of services, in the order that `sharedRoutes` needs. */
export const listOwnRoutes = (sql: Sql, serviceIds: readonly string[]) =>
  sql<Omit<RouteRow, 'has_controller'>[]>`
    select * from route where service_id = any(${[...serviceIds]}::uuid[]) and custom_domain_id is null
    and public_port is null
    order by is_default desc, path = '/' desc, host, path`

/**
 * Throws 409 if another service of the organization has one of these paths at a custom domain of
 * this service. Unproven domains count too, so that a later proof cannot conflict.
 */
export async function refuseTaken(sql: Sql, serviceId: string, paths: readonly string[]): Promise<void> {
  const sharing = await sql<{ id: string; name: string; domain: string }[]>`
    select s.id, s.name, other.domain from custom_domain own
      join custom_domain other on other.domain = own.domain and other.organization_id = own.organization_id
        and other.service_id <> own.service_id
      join service s on s.id = other.service_id
    where own.service_id = ${serviceId} order by other.domain, s.id`
  if (sharing.length === 0) return
  const routes = Map.groupBy(
    await listOwnRoutes(
      sql,
      sharing.map(({ id }) => id),
    ),
    ({ service_id }) => service_id,
  )
  for (const { id, name, domain } of sharing) {
    const taken = sharedRoutes(routes.get(id) ?? []).find(({ path }) => paths.includes(path))
    if (!taken) continue
    const what = taken.path === '/' ? 'The root' : `The path "${taken.path}"`
    const message =
      `${what} of the domain "${domain}" leads to the service "${name}" already. Give one of the two another ` +
      'public_path.'
    throw new AppError('conflict', message)
  }
}
