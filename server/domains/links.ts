import { isIP } from 'node:net'
import { type ServiceType, serviceTypeOf } from '@quayside/contract/enums.ts'
import { isServed } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import type { HostAndPort } from '../routers/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { listServiceRoutes, type RouteRow } from './route-store.ts'

/** Where clients reach a host. */
export interface HostAddress {
  readonly scheme: 'http' | 'https'
  readonly port: number
}

/** Where clients reach the platform's own router. */
export interface PublicAddress {
  /** The address of hosts without a certificate of the router. */
  readonly plain: HostAddress
  /** The port of hosts with a certificate, if the router speaks TLS. */
  readonly tlsPort?: number
  /** The port of HTTPS that a proxy in front of the router ends. */
  readonly proxyTlsPort: number
}

/**
 * Returns the address of the platform's own router. Ports that clients use come before the ports on
 * which it listens. With a public port of HTTPS, a router that speaks HTTP only is behind a proxy
 * that ends HTTPS for all hosts.
 */
export function publicAddressOf(ports: {
  readonly routerPort: number
  readonly routerTls: { readonly port: number } | undefined
  readonly publicRouterPorts: { readonly port?: number; readonly tlsPort?: number }
}): PublicAddress {
  const { port = ports.routerPort, tlsPort } = ports.publicRouterPorts
  const proxyTlsPort = tlsPort ?? 443
  if (ports.routerTls) {
    return { plain: { scheme: 'http', port }, tlsPort: tlsPort ?? ports.routerTls.port, proxyTlsPort }
  }
  return { plain: tlsPort === undefined ? { scheme: 'http', port } : { scheme: 'https', port: tlsPort }, proxyTlsPort }
}

/** Returns the URL of a host name behind the router. */
export function urlOf(host: string, { scheme, port }: HostAddress): string {
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

const ingress = { plain: { scheme: 'http', port: 80 }, tlsPort: 443, proxyTlsPort: 443 } as const

/**
 * Returns where clients reach a host. Ingress controllers are behind a load balancer with the usual
 * ports. `isSecure`: a client of the host uses HTTPS, also if a proxy in front ends it.
 */
export function addressOf(
  { certificate, has_controller }: Pick<RouteRow, 'certificate' | 'has_controller'>,
  own: PublicAddress,
  isSecure = false,
): HostAddress {
  const { plain, tlsPort, proxyTlsPort }: PublicAddress = has_controller ? ingress : own
  const isOurs = tlsPort !== undefined && certificate !== null && isServed(certificate)
  if (isOurs) return { scheme: 'https', port: tlsPort }
  return isSecure && plain.scheme === 'http' ? { scheme: 'https', port: proxyTlsPort } : plain
}
