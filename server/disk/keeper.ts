import type { Builder } from '../builders/index.ts'
import type { Database } from '../database/index.ts'
import { type DiskSpace, type Engine, type EngineDisk, EngineError } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import {
  forgetFetched,
  isBusy,
  keptImages,
  readLayerLimits,
  readNeeds,
  readRunLimits,
  readStorageSizes,
  readUsage,
  writeUsage,
} from './disk-store.ts'
import { fullLayers } from './full-layers.ts'
import { type FullRun, fullRuns } from './full-runs.ts'
import { readFullVolumes, writeStopped, writeWatched } from './full-volume-store.ts'
import { fullVolumes, judgeVolumes } from './full-volumes.ts'
import type { OrganizationDisk } from './organization-disk.ts'
import { type DiskUsage, excess, excessText, type Freeable, sortDisk, unneeded } from './sort-disk.ts'
import { createSpaceWatch } from './space-watch.ts'

/** Measuring reads whole volumes. */
const measureMs = 10 * 60_000

export interface DiskKeeperOptions {
  readonly database: Database
  readonly engine: Pick<Engine, 'disk' | 'diskSpace' | 'removeImage' | 'trimBuildCache'>
  readonly builder: Pick<Builder, 'prune'>
  readonly clock: Clock
  readonly log: Logger
  /** What the operator set; undefined: half of the disk. */
  readonly budgetBytes: number | undefined
  /** GiB that a replica or a run may write outside of volumes if its service does not say. */
  readonly layerGiB: number
  /** Ends a run of a job, which fails with the reason. */
  readonly failRun: (run: FullRun, signal: AbortSignal) => Promise<void>
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

/** Keeps what the platform takes on the disk within its budget. */
export interface DiskKeeper {
  /** What was measured last, null before the first time. Asks no engine. */
  usage(): Promise<(DiskUsage & { readonly measured_at: Date }) | null>
  /** Removes fetched images that no kept version needs; every ten minutes measures, removes such built ones, and caches when there is too much. */
  reconcile(signal: AbortSignal): Promise<void>
  /** Looks at the free space, which is cheap. Returns true if it runs out: then the next `reconcile` measures. */
  watch(signal: AbortSignal): Promise<boolean>
  /** The next `reconcile` measures, whenever the last time was. */
  measureSoon(): void
  /** Why a service runs out of its storage; undefined for one that does not. Asks no engine. */
  troubleOf(serviceId: string): string | undefined
}

export function createDiskKeeper(options: DiskKeeperOptions): DiskKeeper {
  const { database, clock, engine, log } = options
  let measureAt = Number.NEGATIVE_INFINITY
  const spaceWatch = createSpaceWatch(clock)
  let isEarly = false
  let volumes: EngineDisk['volumes'] = []
  let troubles: ReadonlyMap<string, string> = new Map()
  let stopped: ReadonlySet<string> = new Set()
  return {
    async usage() {
      const row = await readUsage(database)
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
        const needs = await readNeeds(database)
        for (const reference of unneeded(needs, clock.now())) {
          // What something else uses by now stays, and is looked at again.
          if (await engine.removeImage(reference, signal)) await forgetFetched(database, reference)
        }
        const before = await readFullVolumes(database)
        // A service that was deployed since it was stopped is measured without delay, so that deploying again and again fills no disk.
        const isBack = [...stopped].some((id) => !before.stopped.has(id))
        stopped = before.stopped
        const isUsual = isBack || clock.monotonic() >= measureAt
        if (isUsual || isEarly) {
          if (isUsual) measureAt = clock.monotonic() + measureMs
          isEarly = false
          const end = spaceWatch.begin(await spaceOf(engine, signal))
          const found = await keepToBudget(options, signal).finally(end)
          volumes = found.volumes
          await endFullRuns(options, found, signal)
          const isDone = await stopFull(options, found, isUsual)
          const isRecorded = (await options.organizations?.record(found, signal)) ?? true
          if (!isDone || !isRecorded) measureAt = Number.NEGATIVE_INFINITY
          stopped = (await readFullVolumes(database)).stopped
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
const spaceOf = (engine: Pick<Engine, 'diskSpace'>, signal: AbortSignal): Promise<DiskSpace | undefined> =>
  engine.diskSpace(signal).catch((error: unknown) => {
    if (error instanceof EngineError) return undefined
    throw error
  })

/** Stops services with a volume far beyond its size, or with a replica that wrote too much outside of volumes. Returns false if one of them is being deployed: it is measured again soon. */
async function stopFull(options: DiskKeeperOptions, { volumes, layers }: Taken, isUsual: boolean): Promise<boolean> {
  const { database, clock, log, layerGiB } = options
  const sizes = await readStorageSizes(database)
  const { stopped, watched } = await readFullVolumes(database)
  const limits = await readLayerLimits(database)
  // An early measurement stops at once or not at all: it may follow shortly after the one before.
  const { stop: full, watch } = judgeVolumes(volumes, sizes, isUsual ? watched : new Set())
  const watchNext = isUsual ? [...watch] : [...watched].map((id) => [id, ''] as const)
  const stop = new Map([...fullLayers(layers, limits, layerGiB), ...full])
  const releases = new Map(limits.map(({ service_id, release_id }) => [service_id, release_id]))
  let isDone = true
  for (const [id, reason] of stop) {
    const release = releases.get(id)
    if (stopped.has(id) || release === undefined) continue
    if (await writeStopped(database, { id, release, reason }, clock.now())) {
      log.warn({ serviceId: id, reason }, 'a service is stopped because it takes far more of the disk than it may')
    } else isDone = false
  }
  // Services that could not be stopped now stay watched, so that the next measurement stops them.
  await writeWatched(database, new Map([...stop, ...watchNext]), clock.now())
  return isDone
}

/** Ends runs of jobs that wrote too much. A failure is found again by the next measurement. */
async function endFullRuns(options: DiskKeeperOptions, { runs }: Taken, signal: AbortSignal): Promise<void> {
  const { database, log, layerGiB, failRun } = options
  for (const run of fullRuns(runs, await readRunLimits(database), layerGiB)) {
    log.warn(
      { runId: run.id, reason: run.reason },
      'a run of a job is ended because it wrote more to the disk than it may',
    )
    await failRun(run, signal)
  }
}

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

/** Looks anew: it may have been given an image, or be about to have one, since the disk was measured. */
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
  { database, engine, clock, budgetBytes, measureLogs }: DiskKeeperOptions,
  signal: AbortSignal,
): Promise<Measured> {
  const [disk, logs] = await Promise.all([engine.disk(signal), measureLogs()])
  const now = clock.now()
  const sorted = sortDisk(disk, await readNeeds(database), { now, logs, budgetBytes })
  await writeUsage(database, sorted.usage, now)
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
