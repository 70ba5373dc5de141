import { isIP } from 'node:net'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { findPublicPort, insertPublicPort, lockPublicPorts } from './public-port-store.ts'

/** The address and port range that this machine publishes. */
export interface PublicPortRange {
  readonly first: number
  readonly last: number
}

/**
 * Assigns the host name and port at which a service is reached from outside its environment without
 * the router. A service keeps its port while that is in the range. After being private it gets the
 * same port again unless another service has it. Throws 409 if no port is left.
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

/** Service ids are random, and so is where the search for a free port starts. */
export const offsetOf = (id: string, size: number): number =>
  Number.parseInt(id.replaceAll('-', '').slice(-8), 16) % size

/** Returns the host name of a public port. The platform's DNS record points it to this machine. */
export const publicPortHost = (name: string, domain: string): string =>
  domain === 'localhost' ? domain : `${name}.${domain}`

/**
 * Returns the address of public ports of this machine: the router's address, or the loopback
 * address if the router listens on a name.
 */
export const publicPortAddress = (routerHost: string): string => (isIP(routerHost) === 0 ? '127.0.0.1' : routerHost)
