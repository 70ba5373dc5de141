import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import type { PortSettings } from '../services/index.ts'
import type { PublicHost } from './host-names.ts'
import { listTakenPorts, lockPublicPorts } from './public-port-store.ts'
import { offsetOf, type PublicPortRange } from './public-ports.ts'
import { listServiceRoutes } from './route-store.ts'

/**
 * Assigns ports of this machine to public TCP and UDP ports of services. Each has a port of the
 * range for as long as it is public. Its external port is used if it is in the range and free.
 * Throws 409 if no port is left.
 */
export async function reservePassedPorts(
  sql: Sql,
  service: { readonly id: string; readonly host: string; readonly ports: readonly PortSettings[] },
  range: PublicPortRange,
): Promise<PublicHost[]> {
  const wished = service.ports.flatMap(({ protocol, ...port }) =>
    port.publicly_accessible && (protocol === 'TCP' || protocol === 'UDP') ? [{ ...port, protocol }] : [],
  )
  if (wished.length === 0) return []
  await lockPublicPorts(sql)
  const routes = await listServiceRoutes(sql, service.id)
  const own = new Map(routes.flatMap((row) => (row.public_port === null ? [] : [[row.internal_port, row.public_port]])))
  const given = chosenPorts(wished, { own, taken: await listTakenPorts(sql, service.id), range, id: service.id })
  return wished.flatMap(({ name, internal_port, is_default, protocol }) => {
    const public_port = given.get(internal_port)
    if (public_port === undefined) return []
    const host = `${service.host}:${public_port}`
    return [{ host, port_name: name, internal_port, is_default, public_port, public_protocol: protocol }]
  })
}

/** Pure: returns a port of the machine for each port of a service, by internal port. */
export function chosenPorts(
  wished: readonly Pick<PortSettings, 'internal_port' | 'external_port'>[],
  facts: {
    /** The ports that the service already has. */
    readonly own: ReadonlyMap<number, number>
    readonly taken: ReadonlySet<number>
    readonly range: PublicPortRange
    readonly id: string
  },
): ReadonlyMap<number, number> {
  const { own, range, id } = facts
  const { first, last } = range
  const given = new Map<number, number>()
  const taken = new Set(facts.taken)
  const take = (internal: number, port: number | undefined | null): boolean => {
    if (port === undefined || port === null || port < first || port > last || taken.has(port)) return false
    taken.add(port)
    given.set(internal, port)
    return true
  }
  const isOpen = ({ internal_port }: { readonly internal_port: number }): boolean => !given.has(internal_port)
  for (const { internal_port, external_port } of wished) take(internal_port, external_port)
  for (const { internal_port } of wished.filter(isOpen)) take(internal_port, own.get(internal_port))
  const size = last - first + 1
  for (const { internal_port } of wished.filter(isOpen)) {
    const offset = offsetOf(id, size)
    const free = Array.from({ length: size }, (_, step) => first + ((offset + step) % size))
    if (!free.some((port) => take(internal_port, port))) {
      throw new AppError(
        'conflict',
        `ports: all public ports from ${first} to ${last} are taken. Make another port or database private, ` +
          'or let QUAYSIDE_PUBLIC_PORTS name more.',
      )
    }
  }
  return given
}
