import { type ServiceType, serviceTypeOf } from '@quayside/contract/enums.ts'
import type { Database } from '../database/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { listServiceRoutes, type RouteRow } from './route-store.ts'

/** The router's address from outside. */
export interface PublicAddress {
  readonly scheme: 'http' | 'https'
  readonly port: number
}

/** Returns the URL of a host name behind the router. */
export function urlOf(host: string, { scheme, port }: PublicAddress): string {
  const usual = scheme === 'https' ? 443 : 80
  return `${scheme}://${host}${port === usual ? '' : `:${port}`}`
}

/** Returns the URLs of a service. */
export async function listLinks(database: Database, service: ServiceRow, address: PublicAddress) {
  const routes = await listServiceRoutes(database, service.id)
  return routes.map((route) => toLink(route, serviceTypeOf(service.kind), address))
}

/**
 * Hosts without HTTP include the port of the machine. `own` is the address of the platform's
 * router.
 */
export function toLink(route: RouteRow, service_type: ServiceType, own: PublicAddress) {
  const address = route.has_controller ? controllerAddress : own
  return {
    service_id: route.service_id,
    service_type,
    url:
      route.public_protocol === null
        ? urlOf(route.host, address) + (route.path === '/' ? '' : route.path)
        : `${route.public_protocol.toLowerCase()}://${route.host}`,
    internal_port: route.internal_port,
    external_port: route.public_port ?? address.port,
    is_qovery_domain: route.custom_domain_id === null,
    is_default: route.is_default,
  }
}

/** Ingress controllers are behind a load balancer with the usual ports. */
const controllerAddress: PublicAddress = { scheme: 'http', port: 80 }
