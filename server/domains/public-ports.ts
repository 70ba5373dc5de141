import { isIP } from 'node:net'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { findPublicPort, insertPublicPort, lockPublicPorts } from './public-port-store.ts'

/** Where this machine publishes ports. */
export interface PublicPortRange {
  readonly first: number
  readonly last: number
}

/**
 * The host name and port under which a service is reached from outside of its environment without
 * the router. A service keeps its port as long as that is of the range, and gets it again after it
 * was private, unless another one has it by then. Throws 409 when none is left.
 */
export async function reservePublicPort(
  sql: Sql,
  service: { readonly id: string; readonly host: string },
  { first, last }: PublicPortRange,
): Promise<{ readonly host: string; readonly port: number }> {
  const found = await findPublicPort(sql, service.id)
  if (found && found.host === service.host && found.port >= first && found.port <= last) return found
  await lockPublicPorts(sql)
  const preferred = found ? found.port : first + offsetOf(service.id, last - first + 1)
  const reserved = await insertPublicPort(sql, service, { first, last, preferred })
  if (reserved) return reserved
  throw new AppError(
    'conflict',
    `accessibility: all public ports from ${first} to ${last} are taken. Make another database private, or ` +
      'let QUAYSIDE_PUBLIC_PORTS name more.',
  )
}

/** The ids of services are random: so are the places where they begin to look. */
export const offsetOf = (id: string, size: number): number =>
  Number.parseInt(id.replaceAll('-', '').slice(-8), 16) % size

/**
 * The host name of a service's public port: one that leads to this machine by the DNS record of the
 * platform's host names.
 */
export const publicPortHost = (name: string, domain: string): string =>
  domain === 'localhost' ? domain : `${name}.${domain}`

/**
 * The address at which public ports of this machine answer: that of the router, or the loopback if
 * the router listens under a name.
 */
export const publicPortAddress = (routerHost: string): string => (isIP(routerHost) === 0 ? '127.0.0.1' : routerHost)
