import type { Builder } from '../builders/index.ts'
import type { Database } from '../database/index.ts'
import { type Engine, EngineError } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { forgetFetched, readNeeds, readUsage, writeUsage } from './disk-store.ts'
import { type DiskUsage, excess, type Freeable, sortDisk, unneeded } from './sort-disk.ts'

/** Measuring reads whole volumes. */
const measureMs = 10 * 60_000

export interface DiskKeeperOptions {
  readonly database: Database
  readonly engine: Pick<Engine, 'disk' | 'removeImage' | 'trimBuildCache'>
  readonly builder: Pick<Builder, 'prune'>
  readonly clock: Clock
  readonly log: Logger
  /** How many images of a service are kept. */
  readonly keptReleases: number
  /** What the operator set; undefined: half of the disk. */
  readonly budgetBytes: number | undefined
  /** What the lines of services and deployments take. */
  readonly measureLogs: () => Promise<{ readonly count: number; readonly bytes: number }>
}

/** Keeps what the platform takes on the disk within its budget. */
export interface DiskKeeper {
  /** What was measured last, null before the first time. Asks no engine. */
  usage(): Promise<(DiskUsage & { readonly measured_at: Date }) | null>
  /** Removes what no kept version needs; measures every ten minutes, and frees more when there is too much. For a reconciler. */
  reconcile(signal: AbortSignal): Promise<void>
  /** The next `reconcile` measures, whenever the last time was. */
  measureSoon(): void
}

export function createDiskKeeper(options: DiskKeeperOptions): DiskKeeper {
  const { database, clock, engine } = options
  let measureAt = Number.NEGATIVE_INFINITY
  return {
    async usage() {
      const row = await readUsage(database)
      return row ? { measured_at: row.measured_at, ...row.usage } : null
    },
    measureSoon: () => {
      measureAt = Number.NEGATIVE_INFINITY
    },
    async reconcile(signal) {
      try {
        const needs = await readNeeds(database, options.keptReleases)
        for (const reference of unneeded(needs, clock.now())) {
          // What something else uses by now stays, and is looked at again.
          if (await engine.removeImage(reference, signal)) await forgetFetched(database, reference)
        }
        if (clock.monotonic() < measureAt) return
        measureAt = clock.monotonic() + measureMs
        await keepToBudget(options, signal)
      } catch (error) {
        measureAt = Number.NEGATIVE_INFINITY
        // Others say that it is away; it is measured when it is back.
        if (!(error instanceof EngineError && error.reason === 'unreachable')) throw error
      }
    },
  }
}

async function keepToBudget(options: DiskKeeperOptions, signal: AbortSignal): Promise<void> {
  const { log } = options
  const before = await measure(options, signal)
  const tooMuch = excess(before.usage)
  if (tooMuch === 0) return
  await free(options, before, tooMuch, signal)
  const { usage } = await measure(options, signal)
  const left = excess(usage)
  const facts = { budgetBytes: usage.budget_bytes, freedBytes: tooMuch - left, leftBytes: left }
  if (left === 0) log.info(facts, 'the disk budget was exceeded; images and caches that nothing needs were removed')
  else log.warn(facts, 'the disk budget is exceeded, and nothing is left that may be removed')
}

async function measure(
  { database, engine, clock, budgetBytes, keptReleases, measureLogs }: DiskKeeperOptions,
  signal: AbortSignal,
): Promise<{ usage: DiskUsage; freeable: Freeable; cacheBytes: number }> {
  const [disk, logs] = await Promise.all([engine.disk(signal), measureLogs()])
  const now = clock.now()
  const sorted = sortDisk(disk, await readNeeds(database, keptReleases), { now, logs, budgetBytes })
  await writeUsage(database, sorted.usage, now)
  return { ...sorted, cacheBytes: disk.buildCache.bytes }
}

/** The oldest images first, then caches, the longest unused first. */
async function free(
  { builder, engine, budgetBytes }: DiskKeeperOptions,
  { freeable, cacheBytes }: { freeable: Freeable; cacheBytes: number },
  tooMuch: number,
  signal: AbortSignal,
): Promise<void> {
  let left = tooMuch
  for (const { service, kept, bytes } of freeable.built) {
    if (left <= 0) return
    await builder.prune(service, kept, signal)
    left -= bytes
  }
  if (left > 0 && budgetBytes !== undefined) await engine.trimBuildCache(Math.max(0, cacheBytes - left), signal)
}
