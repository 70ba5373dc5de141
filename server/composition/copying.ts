import { publicHosts, publicPortHost, replaceHosts, reservePublicPort } from '../domains/index.ts'
import { createCopyWorkflow } from '../environments/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { copyServiceParts, partsOf, setParts } from '../service-parts/index.ts'
import { cloneService, type ServicesOptions } from '../services/index.ts'
import { copyVariables, internalHost } from '../variables/index.ts'

import type { Foundation } from './foundation.ts'

/** What hangs on a service, for those who make and copy services. */
export const serviceParts = { of: partsOf, set: setParts, copy: copyServiceParts }

/** Lets the public ports of a service have their host names, and what is published its port of this machine. */
export const hostDeclarer =
  ({ config }: Pick<Foundation, 'config'>): ServicesOptions['declareHosts'] =>
  async (sql, service) => {
    await replaceHosts(sql, service.id, publicHosts(service, config.domain), clock.now())
    if (!service.isPublished) return
    const host = publicPortHost(internalHost(service), config.domain)
    await reservePublicPort(sql, { id: service.id, host }, config.publicPorts)
  }

/** How services are copied with their environment. */
export function createEnvironmentCopy(foundation: Foundation) {
  const { vault, log } = foundation
  const declareHosts = hostDeclarer(foundation)
  const parts = serviceParts
  return createCopyWorkflow({
    clock,
    log,
    // Those of all services together follow, when every copy is there.
    copyService: (sql, clone) =>
      cloneService(sql, { vault, clock, declareHosts, parts, copyVariables: async () => {} }, clone),
    copyVariables: (sql, copy) => copyVariables(sql, { vault, clock }, copy),
  })
}
