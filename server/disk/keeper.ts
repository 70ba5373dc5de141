import type { Builder } from '../builders/index.ts'
import { type DiskMeter, type DiskSpace, type EngineDisk, EngineError } from '../engines/index.ts'
import { forgetFetched, isBusy, keptImages, readNeeds, readStorageSizes, readUsage, writeUsage } from './disk-store.ts'
import { noneFull } from './full-inodes.ts'
import { readFullVolumes } from './full-volume-store.ts'
import { fullVolumes } from './full-volumes.ts'
import { measureInodes } from './measure-inodes.ts'
import type { OrganizationDisk } from './organization-disk.ts'
import { type DiskUsage, excess, excessText, type Freeable, sortDisk, unneeded } from './sort-disk.ts'
import { createSpaceWatch } from './space-watch.ts'
import { endFullRuns, type StopOptions, stopFull } from './stop-full.ts'

/** Measuring is slow because it reads whole volumes. */
const measureMs = 10 * 60_000

export interface DiskKeeperOptions extends StopOptions {
  readonly engine: DiskMeter
  readonly builder: Pick<Builder, 'prune'>
  /** The operator's budget. Undefined means half of the disk. */
  readonly budgetBytes: number | undefined
  /** Returns the size of the logs of services and deployments. */
  readonly measureLogs: () => Promise<MeasuredLogs>
  /** Receives each measurement. */
  readonly organizations?: Pick<OrganizationDisk, 'record' | 'isLimited'>
}

export interface MeasuredLogs {
  readonly count: number
  readonly bytes: number
  /** Bytes by the id of the service or execution. */
  readonly byOwner?: ReadonlyMap<string, number>
}

/** Keeps the platform's disk use on one engine within its budget. */
export interface DiskKeeper {
  /** Returns the last measurement, or null before the first one. Does not call the engine. */
  usage(): Promise<(DiskUsage & { readonly measured_at: Date }) | null>
  /**
   * Removes fetched images that no kept version needs. Every ten minutes it also measures the disk,
   * removes unneeded built images, and trims build caches beyond the budget.
   */
  reconcile(signal: AbortSignal): Promise<void>
  /** Checks the free space, which is cheap. If it is low, the next `reconcile` measures. */
  watch(signal: AbortSignal): Promise<boolean>
  /** Makes the next `reconcile` measure the disk. */
  measureSoon(): void
  /** Returns why a service is running out of storage, if it is. Does not call the engine. */
  troubleOf(serviceId: string): string | undefined
}

export function createDiskKeeper(options: DiskKeeperOptions): DiskKeeper {
  const { database, name, clock, engine, log } = options
  let measureAt = Number.NEGATIVE_INFINITY
  const spaceWatch = createSpaceWatch(clock)
  let isEarly = false
  let volumes: EngineDisk['volumes'] = []
  let troubles: ReadonlyMap<string, string> = new Map()
  let stopped: ReadonlySet<string> = new Set()
  return {
    async usage() {
      const row = await readUsage(database, name)
      return row ? { measured_at: row.measured_at, ...row.usage } : null
    },
    troubleOf: (serviceId) => troubles.get(serviceId),
    measureSoon: () => {
      measureAt = Number.NEGATIVE_INFINITY
    },
    async watch(signal) {
      const space = await spaceOf(engine, signal)
      isEarly ||= space !== undefined && spaceWatch.isDue(space)
      return isEarly
    },
    async reconcile(signal) {
      try {
        const needs = await readNeeds(database, name)
        for (const reference of unneeded(needs, clock.now())) {
          // An image that is in use by now is kept and checked again later.
          if (await engine.removeImage(reference, signal)) await forgetFetched(database, name, reference)
        }
        const before = await readFullVolumes(database, name)
        // A service deployed since it was stopped is measured at once. Otherwise repeated
        // deployments could fill the disk.
        const isBack = [...stopped].some((id) => !before.stopped.has(id))
        stopped = before.stopped
        const isUsual = isBack || clock.monotonic() >= measureAt
        if (isUsual || isEarly) {
          if (isUsual) measureAt = clock.monotonic() + measureMs
          isEarly = false
          const space = await spaceOf(engine, signal)
          const { areInodesShort, end } = spaceWatch.begin(space)
          const inodes = space && areInodesShort ? measureInodes(options, space, signal) : noneFull
          const [found, full] = await Promise.all([keepToBudget(options, signal), inodes]).finally(end)
          volumes = found.volumes
          await endFullRuns(options, { ...found, full }, signal)
          const isDone = await stopFull(options, { ...found, full }, isUsual)
          const isRecorded = (await options.organizations?.record({ ...found, engine: name }, signal)) ?? true
          if (!isDone || !isRecorded) measureAt = Number.NEGATIVE_INFINITY
          stopped = (await readFullVolumes(database, name)).stopped
        }
        // An enlarged storage stops being a problem without another measurement.
        const found = fullVolumes(volumes, await readStorageSizes(database))
        for (const [serviceId, reason] of found) {
          if (!troubles.has(serviceId)) log.warn({ serviceId, reason }, 'a volume is larger than its size')
        }
        troubles = found
      } catch (error) {
        measureAt = Number.NEGATIVE_INFINITY
        // Other parts report an unreachable engine. It is measured when it is back.
        if (!(error instanceof EngineError && error.reason === 'unreachable')) throw error
      }
    },
  }
}

/** Returns the free space. Undefined if the engine fails, which other parts report. */
const spaceOf = (engine: DiskMeter, signal: AbortSignal): Promise<DiskSpace | undefined> =>
  engine.diskSpace(signal).catch((error: unknown) => {
    if (error instanceof EngineError) return undefined
    throw error
  })

/** Measures the disk and frees images, then build caches beyond the budget. Measures again. */
async function keepToBudget(options: DiskKeeperOptions, signal: AbortSignal): Promise<Taken> {
  const { log, engine, budgetBytes } = options
  let now = await measure(options, signal)
  if (now.freeable.built.length > 0) {
    for (const { service } of now.freeable.built) await pruneIdle(options, service, signal)
    now = await measure(options, signal)
  }
  const tooMuch = excess(now.usage)
  if (tooMuch === 0) return now
  if (budgetBytes !== undefined) {
    await engine.trimBuildCache(Math.max(0, now.cacheBytes - tooMuch), signal)
    now = await measure(options, signal)
  }
  const left = excess(now.usage)
  const facts = { budgetBytes: now.usage.budget_bytes, freedBytes: tooMuch - left, leftBytes: left }
  const text = excessText(left, now.freeableCacheBytes, budgetBytes)
  if (left === 0) log.info(facts, text)
  else log.warn({ ...facts, freeableCacheBytes: now.freeableCacheBytes }, text)
  return now
}

/** Checks the service again, because a deployment may have begun since the measurement. */
async function pruneIdle(
  { database, builder }: DiskKeeperOptions,
  service: string,
  signal: AbortSignal,
): Promise<void> {
  if (await isBusy(database, service)) return
  await builder.prune(service, await keptImages(database, service), signal)
}

interface Taken extends Pick<EngineDisk, 'volumes' | 'layers' | 'runs'> {
  readonly disk: EngineDisk
  readonly logs: ReadonlyMap<string, number>
}

interface Measured extends Taken {
  readonly usage: DiskUsage
  readonly freeable: Freeable
  readonly cacheBytes: number
  readonly freeableCacheBytes: number
}

async function measure(
  { database, name, engine, clock, budgetBytes, measureLogs }: DiskKeeperOptions,
  signal: AbortSignal,
): Promise<Measured> {
  const [disk, logs] = await Promise.all([engine.disk(signal), measureLogs()])
  const now = clock.now()
  const sorted = sortDisk(disk, await readNeeds(database, name), { now, logs, budgetBytes })
  await writeUsage(database, name, sorted.usage, now)
  return {
    ...sorted,
    disk,
    logs: logs.byOwner ?? new Map(),
    volumes: disk.volumes,
    layers: disk.layers,
    runs: disk.runs,
    cacheBytes: disk.buildCache.bytes,
    freeableCacheBytes: disk.buildCache.freeableBytes,
  }
}
