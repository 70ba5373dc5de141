import type { Database } from '../database/index.ts'
import { type EngineDisk, localEngine } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { readLargestDisk } from './disk-store.ts'
import { readFullVolumes, writeStopped } from './full-volume-store.ts'
import { judgeOrganization, limitOf, type OrganizationBytes, stopReason, sumOf } from './organization-limit.ts'
import { readFormer, readFormerParts, readOwners, readStoppable, writeMeasured } from './organization-store.ts'
import { countGrowth, layersPart, type ServicePart, type SharedBytes, sumByOrganization } from './organization-sums.ts'

export interface RecordOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly limitBytes: number | undefined
  readonly repositorySizes: (signal: AbortSignal) => Promise<ReadonlyMap<string, number>>
}

/** The measured sizes of an engine's disk and of logs. */
export interface Measurement {
  /** The name of the measured engine. */
  readonly engine: string
  readonly disk: EngineDisk
  /** Bytes of logs by the id of their service or execution. */
  readonly logs: ReadonlyMap<string, number>
}

/**
 * Stores what each organization takes, and stops growing services of organizations far beyond the
 * limit. Returns false if one of these services is being deployed.
 */
export async function recordOrganizations(
  options: RecordOptions,
  { engine, disk, logs }: Measurement,
  signal: AbortSignal,
): Promise<boolean> {
  const { database, clock } = options
  const former = await readFormer(database, engine)
  // Repositories are on this machine only.
  const repositories = engine === localEngine ? await repositoriesOf(options, former, signal) : new Map()
  const owners = await readOwners(database, [...logs.keys()])
  const { services, organizations } = sumByOrganization({ disk, logs, repositories }, owners)
  const limit = limitOf(options.limitBytes, Math.max(disk.totalBytes, (await readLargestDisk(database)) ?? 0))
  const parts = Map.groupBy(services, (part) => part.organization_id)
  const judged = former.map(({ id, backups, elsewhere, was_over, is_known }) => {
    const shared = organizations.get(id) ?? nothing
    const bytes = bytesOf(parts.get(id) ?? [], shared, { ...elsewhere, backups })
    // Temporary data of backups in progress must not stop a service.
    const lasting = sumOf(bytes) - shared.scratch
    return { id, is_known, shared, bytes, verdict: judgeOrganization(lasting, limit, was_over) }
  })
  const over = new Map(judged.flatMap(({ id, bytes, verdict }) => (verdict === 'stop' ? [[id, bytes] as const] : [])))
  const known = new Set(judged.flatMap(({ id, is_known }) => (is_known ? [id] : [])))
  const growth = countGrowth(services, await readFormerParts(database), { judged: new Set(over.keys()), known })
  const rows = judged.map(({ id, shared, verdict }) => ({ id, ...shared, is_over: verdict !== 'within' }))
  await writeMeasured(database, engine, { organizations: rows, parts: growth.kept }, clock.now())
  if (limit === undefined || over.size === 0) return true
  const organizationOf = new Map(services.map((part) => [part.service_id, part.organization_id]))
  const stop = [...growth.grown].flatMap(([id, grown]) => {
    const bytes = over.get(organizationOf.get(id) ?? '')
    return bytes ? [{ id, reason: stopReason(bytes, limit, grown) }] : []
  })
  return stopGrown(options, stop)
}

const nothing: SharedBytes = { images: 0, repositories: 0, logs: 0, scratch: 0 }

/** Returns the sizes of repositories, or the previous ones if measuring fails. */
async function repositoriesOf(
  { repositorySizes, log }: RecordOptions,
  former: readonly { readonly id: string; readonly repositories: number }[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await repositorySizes(signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ err: error }, 'the repositories of the git host could not be measured; their previous sizes count')
    return new Map(former.map(({ id, repositories }) => [id, repositories]))
  }
}

function bytesOf(
  parts: readonly ServicePart[],
  { images, repositories, logs, scratch }: SharedBytes,
  elsewhere: OrganizationBytes,
): OrganizationBytes {
  const sum = (isLayers: boolean): number =>
    parts.reduce((all, { part, bytes }) => ((part === layersPart) === isLayers ? all + bytes : all), 0)
  return {
    volumes: sum(false) + scratch + elsewhere.volumes,
    layers: sum(true) + elsewhere.layers,
    images: images + elsewhere.images,
    backups: elsewhere.backups,
    repositories: repositories + elsewhere.repositories,
    logs: logs + elsewhere.logs,
  }
}

async function stopGrown(
  { database, clock, log }: RecordOptions,
  stop: readonly { readonly id: string; readonly reason: string }[],
): Promise<boolean> {
  const releases = new Map((await readStoppable(database)).map(({ id, release_id }) => [id, release_id]))
  const { stopped } = await readFullVolumes(database)
  let isDone = true
  for (const { id, reason } of stop) {
    const release = releases.get(id)
    if (release === undefined || stopped.has(id)) continue
    if (await writeStopped(database, { id, release, reason }, clock.now())) {
      log.warn({ serviceId: id, reason }, 'a service is stopped because its organization takes too much of the disk')
    } else isDone = false
  }
  return isDone
}
