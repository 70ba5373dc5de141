import { createHostDeclarer } from '../domains/index.ts'
import {
  createCopyWorkflow,
  createErasureWorkflow,
  createResumer,
  createRowCopier,
  createServiceCopyWorkflow,
  createStrayEraser,
  createVolumeCopier,
  submitErasure,
} from '../environments/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { archiveCommandOf, volumesOf } from '../releases/index.ts'
import { failForCopies } from '../requests/index.ts'
import { createPatience } from '../rollout/index.ts'
import { copyServiceParts, createRedeclarer, partsOf, setParts } from '../services/index.ts'
import { internalHost } from '../variables/index.ts'
import type { Foundation } from './foundation.ts'
import type { LateWorkflows } from './late-workflows.ts'

/** The records that belong to a service, to create and to copy. */
export const serviceParts = { of: partsOf, set: setParts, copy: copyServiceParts }

/** Creates the host names of services. */
export const hostDeclarer = ({ config, engines }: Foundation) =>
  createHostDeclarer({
    clock,
    domain: config.domain,
    publicPorts: config.publicPorts,
    publishesPorts: (engine) => engines.capabilitiesOf({ engine })?.publishesPorts ?? engine === null,
    internalHost,
  })

/** Assigns the host names of a service again, as its settings and its cluster are now. */
export const redeclareHosts = (foundation: Foundation) => createRedeclarer(hostDeclarer(foundation))

/** Writes the rows of copied services. */
export const rowCopier = (foundation: Foundation) =>
  createRowCopier({
    vault: foundation.vault,
    clock,
    declareHosts: hostDeclarer(foundation),
    parts: serviceParts,
    claimDisk: foundation.organizationDisk.claim,
  })

/** Copies environments and services, with their data on request. */
export function createCopyWorkflows(foundation: Foundation, workflows: LateWorkflows) {
  const { log, database, engines, config } = foundation
  const patiently = createPatience(clock)
  const data = {
    database,
    clock,
    log,
    volumesOf: (service: Parameters<typeof archiveCommandOf>[0] & { readonly id: string }) =>
      volumesOf(service, service.id),
    archiveCommandOf,
    ...createVolumeCopier({ database, engines, mostStandingSeconds: config.copySeconds, patiently }),
    submitErasure: submitErasure(workflows),
    failRequests: failForCopies({ clock, workflows }),
  }
  return [
    createCopyWorkflow({ ...data, ...rowCopier(foundation) }),
    createServiceCopyWorkflow(data),
    createErasureWorkflow(data),
  ]
}

/** Resumes the replicas of each engine that no copy needs to be paused. */
export const createStandstillReconcilers = ({ log, engines }: Foundation) =>
  engines.each((named) => createResumer({ log }, named))

/** Removes what is left of environments that are gone, on each engine. */
export const createStrayErasers = ({ database, log, engines }: Foundation) =>
  engines.each((named) => createStrayEraser({ database, log }, named))
