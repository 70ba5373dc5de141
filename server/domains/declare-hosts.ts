import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { PortSettings } from '../services/index.ts'
import { publicHosts } from './host-names.ts'
import { reservePassedPorts } from './passed-ports.ts'
import { deletePublicPort } from './public-port-store.ts'
import { type PublicPortRange, publicPortHost, reservePublicPort } from './public-ports.ts'
import { findTrafficPlace, replaceHosts } from './route-store.ts'

interface Declared {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly ports: readonly PortSettings[]
  /** The port of a public database. */
  readonly published: PortSettings | undefined
}

/**
 * Assigns host names to a service's public ports, and a port of this machine to each that is not
 * HTTP. The engine of this machine publishes the port of a database itself. On other clusters the
 * router opens it, like other TCP ports.
 */
export const createHostDeclarer =
  ({
    clock,
    domain,
    publicPorts,
    publishesPorts,
    internalHost,
  }: {
    readonly clock: Clock
    /** The domain of the platform, for services on clusters without one of their own. */
    readonly domain: string
    readonly publicPorts: PublicPortRange
    /** Whether an engine publishes the ports of databases itself. */
    readonly publishesPorts: (engine: string | null) => boolean
    /** Returns the name by which other services of the environment reach a service. */
    readonly internalHost: (service: { readonly kind: string; readonly id: string }) => string
  }) =>
  async (sql: Sql, service: Declared): Promise<void> => {
    const { id, published } = service
    const place = await findTrafficPlace(sql, id)
    const host = publicPortHost(internalHost(service), domain)
    const isOfEngine = publishesPorts(place.engine)
    const passed = published && !isOfEngine ? [...service.ports, published] : service.ports
    const ports = await reservePassedPorts(sql, { id, host, ports: passed }, publicPorts)
    await replaceHosts(sql, id, [...publicHosts(service, place.domain ?? domain), ...ports], clock.now())
    if (published && isOfEngine) await reservePublicPort(sql, { id, host }, publicPorts)
    else if (published) await deletePublicPort(sql, id)
  }
