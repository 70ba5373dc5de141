import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { PortSettings } from '../services/index.ts'
import { publicHosts } from './host-names.ts'
import { reservePassedPorts } from './passed-ports.ts'
import { type PublicPortRange, publicPortHost, reservePublicPort } from './public-ports.ts'
import { findTrafficDomain, replaceHosts } from './route-store.ts'

interface Declared {
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly ports: readonly PortSettings[]
  readonly isPublished: boolean
}

/**
 * Assigns host names to a service's public ports, and a port of this machine if it is published.
 */
export const createHostDeclarer =
  ({
    clock,
    domain,
    publicPorts,
    internalHost,
  }: {
    readonly clock: Clock
    /** The domain of the platform, for services on clusters without one of their own. */
    readonly domain: string
    readonly publicPorts: PublicPortRange
    /** Returns the name by which other services of the environment reach a service. */
    readonly internalHost: (service: { readonly kind: string; readonly id: string }) => string
  }) =>
  async (sql: Sql, service: Declared): Promise<void> => {
    const ofCluster = (await findTrafficDomain(sql, service.id)) ?? domain
    const host = publicPortHost(internalHost(service), domain)
    const ports = await reservePassedPorts(sql, { ...service, host }, publicPorts)
    await replaceHosts(sql, service.id, [...publicHosts(service, ofCluster), ...ports], clock.now())
    if (service.isPublished) await reservePublicPort(sql, { id: service.id, host }, publicPorts)
  }
