import { isIP } from 'node:net'
import { type ServiceType, serviceTypeOf } from '@quayside/contract/enums.ts'
import { isServed } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import type { HostAndPort } from '../routers/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { listServiceRoutes, type RouteRow } from './route-store.ts'

/** The router's address from outside. */
export interface PublicAddress {
  readonly scheme: 'http' | 'https'
  readonly port: number
  /** The port of hosts with a certificate, if the router speaks TLS. */
  readonly tlsPort?: number
}

/** Returns the address of the platform's own router. */
export const publicAddressOf = (ports: {
  readonly routerPort: number
  readonly routerTls: { readonly port: number } | undefined
}): PublicAddress => ({
  scheme: 'http',
  port: ports.routerPort,
  ...(ports.routerTls && { tlsPort: ports.routerTls.port }),
})

/** Returns the URL of a host name behind the router. */
export function urlOf(host: string, { scheme, port }: Pick<PublicAddress, 'scheme' | 'port'>): string {
  const usual = scheme === 'https' ? 443 : 80
  return `${scheme}://${host}${port === usual ? '' : `:${port}`}`
}

/** Returns the URLs of a service. */
export async function listLinks(database: Database, service: ServiceRow, address: PublicAddress) {
  const routes = await listServiceRoutes(database, service.id)
  return routes.flatMap((route) => toLinks(route, serviceTypeOf(service.kind), address))
}

/**
 * Returns the link of a route. None for a TCP or UDP port whose cluster has not given it an address
 * yet. `own` is the address of the platform's router.
 */
export function toLinks(route: RouteRow, service_type: ServiceType, own: PublicAddress) {
  const link = {
    service_id: route.service_id,
    service_type,
    internal_port: route.internal_port,
    is_qovery_domain: route.custom_domain_id === null,
    is_default: route.is_default,
  }
  const { public_protocol: protocol } = route
  if (protocol === null) {
    const address = addressOf(route, own)
    const url = urlOf(route.host, address) + (route.path === '/' ? '' : route.path)
    return [{ ...link, url, external_port: address.port }]
  }
  const at = portAddress(route)
  if (!at) return []
  const host = isIP(at.host) === 6 ? `[${at.host}]` : at.host
  return [{ ...link, url: `${protocol.toLowerCase()}://${host}:${at.port}`, external_port: at.port }]
}

/** Returns where a TCP or UDP port is reached. Undefined while its cluster has not said. */
export function portAddress({ host, public_port, has_controller, outside }: RouteRow): HostAndPort | undefined {
  if (has_controller) return outside ?? undefined
  return public_port === null ? undefined : { host: host.slice(0, host.lastIndexOf(':')), port: public_port }
}

/**
 * Returns where a host answers. Ingress controllers are behind a load balancer with the usual
 * ports.
 */
export function addressOf({ certificate, has_controller }: RouteRow, own: PublicAddress): PublicAddress {
  const [plain, secure] = has_controller ? [{ scheme: 'http', port: 80 } as const, 443] : [own, own.tlsPort]
  const isSecure = secure !== undefined && certificate !== null && isServed(certificate)
  return isSecure ? { scheme: 'https', port: secure } : plain
}
