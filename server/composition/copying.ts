import { recordChange } from '../audit/index.ts'
import { afterCommit, type Sql } from '../database/index.ts'
import { publicHosts, publicPortHost, replaceHosts, reservePassedPorts, reservePublicPort } from '../domains/index.ts'
import { EngineError, enginesOfRow, localEngine, reconcilerName, type VolumeStore } from '../engines/index.ts'
import {
  createCopyWorkflow,
  createErasureWorkflow,
  createResumer,
  createServiceCopyWorkflow,
  type DataCopyOptions,
  insertServiceCopy,
  type RowCopyOptions,
  serviceCopyWorkflow,
  setServiceCopying,
  submitErasure,
} from '../environments/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { findEnvironment } from '../organizations/index.ts'
import { archiveCommandOf, volumesOf } from '../releases/index.ts'
import { failForCopies } from '../requests/index.ts'
import { whileUnreachable } from '../rollout/index.ts'
import {
  cloneService,
  copyServiceParts,
  findService,
  partsOf,
  rewriteSettings,
  type ServicesOptions,
  setParts,
} from '../services/index.ts'
import { copyVariables, findRename, internalHost, type VariableCopy } from '../variables/index.ts'
import type { Reconciler, Workflows } from '../workflows/index.ts'

import type { Foundation } from './foundation.ts'

/** What hangs on a service, for those who make and copy services. */
export const serviceParts = { of: partsOf, set: setParts, copy: copyServiceParts }

/** Lets the public ports of a service have their host names, and what is published its port of this machine. */
export const hostDeclarer =
  ({ config }: Pick<Foundation, 'config'>): ServicesOptions['declareHosts'] =>
  async (sql, service) => {
    const host = publicPortHost(internalHost(service), config.domain)
    const ports = await reservePassedPorts(sql, { ...service, host }, config.publicPorts)
    await replaceHosts(sql, service.id, [...publicHosts(service, config.domain), ...ports], clock.now())
    if (service.isPublished) await reservePublicPort(sql, { id: service.id, host }, config.publicPorts)
  }

/** Copies variables and secrets; settings that name built-ins of a copied service name those of its copy. */
export async function copyNames(sql: Sql, { vault }: Pick<Foundation, 'vault'>, copy: VariableCopy): Promise<void> {
  await copyVariables(sql, { vault, clock }, copy)
  await rewriteSettings(sql, [...copy.services.values()], await findRename(sql, copy))
}

/** Has the data of a service follow into its copy, which is left alone until they are there. */
export const dataCopier =
  (workflows: Workflows): ServicesOptions['copyData'] =>
  async (sql, { from, to }) => {
    await setServiceCopying(sql, to, from)
    await insertServiceCopy(sql, { id: to, sourceId: from, now: clock.now() })
    const input = { serviceId: to, sourceId: from }
    await workflows.submit(sql, {
      id: to,
      kind: serviceCopyWorkflow,
      key: to,
      input,
      countsFor: { serviceId: to },
    })
    afterCommit(() => workflows.nudge())
  }

/** Writes the rows of copied services. Their variables follow all together, once every copy exists. */
export function rowCopier(foundation: Foundation): RowCopyOptions {
  const { vault, organizationDisk } = foundation
  const declareHosts = hostDeclarer(foundation)
  const parts = { vault, clock, declareHosts, parts: serviceParts, claimDisk: organizationDisk.claim }
  return {
    clock,
    copyService: (sql, clone) => cloneService(sql, { ...parts, copyVariables: async () => {} }, clone),
    copyVariables: (sql, copy) => copyNames(sql, { vault }, copy),
  }
}

/** How environments and services are copied, with their data where that is asked for. */
export function createCopyWorkflows(foundation: Foundation, workflows: () => Workflows) {
  const { log, database, engines, config } = foundation
  const data: DataCopyOptions = {
    database,
    clock,
    log,
    volumesOf: (service) => volumesOf(service, service.id),
    archiveCommandOf,
    copyVolumes: async (planned, tell, attempt) => {
      const engine = await engineOfCopy(foundation, planned)
      const copies = planned.flatMap(({ source, service, environment, volumes, archiveCommand }) => {
        const archive = archiveCommand.length > 0 ? { archive: { service: source, command: archiveCommand } } : {}
        return volumes.map((volume) => ({ ...volume, owner: { service, environment }, ...archive }))
      })
      const limits = { mostStandingSeconds: config.copySeconds, tell }
      return whileUnreachable({ clock }, attempt.signal, attempt.output, () =>
        engine.copyVolumes(copies, limits, attempt),
      )
    },
    eraseVolumes: async (service, attempt) => {
      const row = await findService(database, service)
      await Promise.all(enginesOfRow(engines, row).map((engine) => engine.erase(service, attempt)))
    },
  }
  const further = {
    ...data,
    submitErasure: submitErasure(workflows),
    failRequests: (sql: Sql, services: readonly string[], reason: string) =>
      failForCopies({ clock, workflows: workflows() })(sql, services, reason),
  }
  return [
    createCopyWorkflow({
      ...further,
      ...rowCopier(foundation),
      recordFailure: (sql, { environmentId, reason }) => recordFailedCopy(sql, environmentId, undefined, reason),
    }),
    createServiceCopyWorkflow({
      ...further,
      recordFailure: async (sql, { serviceId, reason }) => {
        const service = await findService(sql, serviceId)
        if (service) await recordFailedCopy(sql, service.environment_id, service, reason)
      },
    }),
    createErasureWorkflow(data),
  ]
}

/** Returns the engine of services and their copies. Throws if they are on clusters of different engines. */
async function engineOfCopy(
  { database, engines }: Foundation,
  planned: Parameters<DataCopyOptions['copyVolumes']>[0],
): Promise<VolumeStore> {
  const names = new Set<string | null>()
  for (const id of planned.flatMap(({ source, service }) => [source, service])) {
    const row = await findService(database, id)
    if (row) names.add(row.cluster_engine)
  }
  const [name = localEngine] = names
  if (names.size > 1) throw new EngineError('refused', 'data cannot be copied to the cluster of another engine')
  return engines.engineOf({ engine: name })
}

/** Continues the replicas of each engine that no copy needs to be paused. */
export const createStandstillReconcilers = ({ log, engines }: Foundation): Reconciler[] =>
  engines.all.map(({ name, engine }) => ({
    ...createResumer({ log, resume: (signal) => engine.resume(signal) }),
    name: reconcilerName('standing still', name),
  }))

/** A copy that could not be made is removed; the record of changes keeps why. */
async function recordFailedCopy(
  sql: Sql,
  environmentId: string,
  service: { readonly id: string; readonly name: string; readonly kind: string } | undefined,
  reason: string,
): Promise<void> {
  const environment = await findEnvironment(sql, environmentId)
  if (!environment) return
  const { id, name } = service ?? environment
  await recordChange(sql, {
    organization_id: environment.organization_id,
    created_at: clock.now(),
    event_type: 'DELETE',
    target_type: service ? service.kind.toUpperCase() : 'ENVIRONMENT',
    target_id: id,
    target_name: name,
    sub_target_type: null,
    project_id: environment.project_id,
    project_name: null,
    environment_id: environmentId,
    environment_name: environment.name,
    origin: 'QOVERY_INTERNAL',
    triggered_by: 'clone',
    caller: 'clone',
    user_agent: null,
    change: JSON.stringify({ id, name, reason }),
    original_change: null,
    request_id: newId(),
  })
}
