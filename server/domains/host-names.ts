import type { RoutePort } from '@quayside/contract/routes.ts'
import { withoutEnd, withoutEnds } from '../lib/trim.ts'
import { isRouted, type PortSettings, readPublicPath, sharesHost } from '../services/index.ts'

/**
 * A public port and its address: a host name of the router, or a port of this machine that is then
 * part of the host.
 */
export interface PublicHost {
  readonly host: string
  readonly port_name: string
  readonly internal_port: number
  readonly is_default: boolean
  /** Requests at or below this path lead to the port, unless a longer path matches. */
  readonly path?: string
  /** The path that the service sees instead of `path`. Absent or null leaves the path unchanged. */
  readonly rewrite?: string | null
  /** Whether the service speaks HTTP/2 without TLS at the port. Absent: it speaks HTTP/1.1. */
  readonly speaks_http2?: boolean
  readonly public_port?: number | null
  readonly public_protocol?: RoutePort['protocol'] | null
}

/**
 * Returns `<name>-<8 hex>.<domain>` for the default public port and
 * `<port>-<name>-<8 hex>.<domain>` for the others. Ports with a path have both. Labels are at most
 * 63 letters, digits and hyphens for any service name.
 */
export function publicHosts(
  service: { readonly id: string; readonly name: string; readonly ports: readonly PortSettings[] },
  domain: string,
): PublicHost[] {
  return service.ports.filter(isRouted).flatMap((port) => {
    const { name: port_name, internal_port, is_default } = port
    const at = readPublicPath(port)
    const speaks_http2 = port.protocol === 'GRPC'
    const place = { port_name, internal_port, is_default, speaks_http2, path: at.path, rewrite: at.rewrite ?? null }
    const main = { host: hostName(service, domain), ...place }
    if (is_default) return [main]
    const own = { host: hostName(service, domain, port.name), ...place }
    return sharesHost(port, at) ? [own, main] : [own]
  })
}

/** Returns the platform's name of a service, or of one of its ports. */
export function hostName(
  service: { readonly id: string; readonly name: string },
  domain: string,
  port?: string,
): string {
  const name = label(service.name) || 'service'
  const first = port === undefined ? name : `${label(port)}-${name}`
  return `${withoutEnd(first.slice(0, 54), '-')}-${service.id.slice(0, 8)}.${domain}`
}

const label = (text: string): string =>
  withoutEnds(
    text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-'),
    '-',
  )
