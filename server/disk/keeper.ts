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

/** Measuring reads whole volumes. */
const measureMs = 10 * 60_000

export interface DiskKeeperOptions extends StopOptions {
  readonly engine: DiskMeter
  readonly builder: Pick<Builder, 'prune'>
  /** What the operator set; undefined: half of the disk. */
  readonly budgetBytes: number | undefined
  /** What the lines of services and deployments take. */
  readonly measureLogs: () => Promise<MeasuredLogs>
  /** Is told of each measurement. */
  readonly organizations?: Pick<OrganizationDisk, 'record'>
}

export interface MeasuredLogs {
  readonly count: number
  readonly bytes: number
  /** Bytes by the id of the service or execution. */
  readonly byOwner?: ReadonlyMap<string, number>
}

/** Keeps what the platform takes on the disk of one engine within its budget. */
export interface DiskKeeper {
  /** What was measured last, null before the first time. Asks no engine. */
  usage(): Promise<(DiskUsage & { readonly measured_at: Date }) | null>
  /**
   * Removes fetched images that no kept version needs; every ten minutes measures, removes such
   * built ones, and caches when there is too much.
   */
  reconcile(signal: AbortSignal): Promise<void>
  /**
   * Looks at the free space, which is cheap. Returns true if it runs out: then the next `reconcile`
   * measures.
   */
  watch(signal: AbortSignal): Promise<boolean>
  /** The next `reconcile` measures, whenever the last time was. */
  measureSoon(): void
  /** Why a service runs out of its storage; undefined for one that does not. Asks no engine. */
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
          // What something else uses by now stays, and is looked at again.
          if (await engine.removeImage(reference, signal)) await forgetFetched(database, name, reference)
        }
        const before = await readFullVolumes(database, name)
        // A service that was deployed since it was stopped is measured without delay, so that
        // deploying again and again fills no disk.
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
        // A storage that was enlarged meanwhile is no trouble any more, without measuring.
        const found = fullVolumes(volumes, await readStorageSizes(database))
        for (const [serviceId, reason] of found) {
          if (!troubles.has(serviceId)) log.warn({ serviceId, reason }, 'a volume is larger than its size')
        }
        troubles = found
      } catch (error) {
        measureAt = Number.NEGATIVE_INFINITY
        // Others say that it is away; it is measured when it is back.
        if (!(error instanceof EngineError && error.reason === 'unreachable')) throw error
      }
    },
  }
}

/** Others say that the engine is away. */
const spaceOf = (engine: DiskMeter, signal: AbortSignal): Promise<DiskSpace | undefined> =>
  engine.diskSpace(signal).catch((error: unknown) => {
    if (error instanceof EngineError) return undefined
    throw error
  })

/** Measures the disk, and frees images and build caches beyond the budget. Returns what is left. */
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

/**
 * Looks anew: it may have been given an image, or be about to have one, since the disk was
 * measured.
 */
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
