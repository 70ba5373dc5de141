import type { Database } from '../database/index.ts'
import type { EngineDisk } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import { readLayerLimits, readRunLimits, readStorageSizes } from './disk-store.ts'
import type { FullInodes } from './full-inodes.ts'
import { fullLayers } from './full-layers.ts'
import { type FullRun, fullRuns } from './full-runs.ts'
import { readFullVolumes, writeStopped, writeWatched } from './full-volume-store.ts'
import { judgeVolumes } from './full-volumes.ts'

export interface StopOptions {
  readonly database: Database
  /** The name of the measured engine, as clusters refer to it. */
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** GiB that a replica or run may write outside volumes if its service does not say. */
  readonly layerGiB: number
  /** Ends a run of a job. The run fails with the reason. */
  readonly failRun: (run: FullRun, signal: AbortSignal) => Promise<void>
}

/** The result of a measurement. */
export interface Found extends Pick<EngineDisk, 'volumes' | 'layers' | 'runs'> {
  readonly full: FullInodes
}

/**
 * Stops services with a volume far beyond its size, a replica that wrote too much outside volumes,
 * or too many inodes. Returns false if one of them is being deployed and must be measured again
 * soon.
 */
export async function stopFull(
  options: StopOptions,
  { volumes, layers, full }: Found,
  isUsual: boolean,
): Promise<boolean> {
  const { database, name, clock, log, layerGiB } = options
  const sizes = await readStorageSizes(database)
  const { stopped, watched } = await readFullVolumes(database, name)
  const limits = await readLayerLimits(database)
  // An early measurement may follow soon after the last one, so it does not count as the second.
  const { stop: ofVolumes, watch } = judgeVolumes(volumes, sizes, isUsual ? watched : new Set())
  const watchNext = isUsual ? [...watch] : [...watched].map((id) => [id, ''] as const)
  const stop = new Map([...full.services, ...fullLayers(layers, limits, layerGiB), ...ofVolumes])
  const releases = new Map(limits.map(({ service_id, release_id }) => [service_id, release_id]))
  let isDone = true
  for (const [id, reason] of stop) {
    const release = releases.get(id)
    if (stopped.has(id) || release === undefined) continue
    if (await writeStopped(database, { id, release, reason }, clock.now())) {
      log.warn({ serviceId: id, reason }, 'a service is stopped because it takes far more of the disk than it may')
    } else isDone = false
  }
  // Services that could not be stopped now stay watched, so the next measurement stops them.
  await writeWatched(database, name, new Map([...stop, ...watchNext]), clock.now())
  return isDone
}

/** Ends runs of jobs that wrote too much. After a failure the next measurement finds them again. */
export async function endFullRuns(options: StopOptions, { runs, full }: Found, signal: AbortSignal): Promise<void> {
  const { database, log, layerGiB, failRun } = options
  const limits = await readRunLimits(database)
  const active = new Set(limits.map(({ run_id }) => run_id))
  const ofInodes = full.runs.filter(({ id }) => active.has(id))
  for (const run of [...fullRuns(runs, limits, layerGiB), ...ofInodes]) {
    log.warn(
      { runId: run.id, reason: run.reason },
      'a run of a job is ended because it wrote more to the disk than it may',
    )
    await failRun(run, signal)
  }
}
