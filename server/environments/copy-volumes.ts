import type { Database } from '../database/index.ts'
import {
  type Engines,
  enginesOfRow,
  localEngine,
  type NamedEngine,
  type Runner,
  type VolumeStore,
} from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { findService } from '../services/index.ts'
import type { VolumeCopier } from './data-copy.ts'
import { moveVolumes, scratchOf } from './move-volumes.ts'

/** The parts of other rooms that copy volumes. */
export interface VolumeCopierOptions {
  readonly database: Database
  readonly engines: Pick<Engines<VolumeStore & Runner>, 'all' | 'engineOf'>
  /** The longest pause of containers that use a volume. */
  readonly mostStandingSeconds: number
  /** Retries while the engine cannot be reached. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
}

/**
 * Copies volumes on the engine of their services, or to another engine, and erases volumes. Volumes
 * of a service without a row are erased on all engines.
 */
export const createVolumeCopier = (options: VolumeCopierOptions): VolumeCopier => ({
  copyVolumes: async (planned, tell, attempt) => {
    const { mostStandingSeconds, patiently } = options
    const from = await findEngine(options, planned[0]?.source)
    const to = await findEngine(options, planned[0]?.service)
    const limits = { mostStandingSeconds, tell }
    if (from.name !== to.name)
      return moveVolumes({ from: from.engine, to: to.engine, patiently }, planned, limits, attempt)
    const copies = planned.flatMap(({ source, service, environment, volumes, archiveCommand }) => {
      const archive = archiveCommand.length > 0 ? { archive: { service: source, command: archiveCommand } } : {}
      return volumes.map((volume) => ({
        from: volume.from,
        to: volume.to,
        owner: { service, environment },
        sizeGiB: volume.sizeGiB,
        ...archive,
      }))
    })
    return patiently(attempt, () => from.engine.copyVolumes(copies, limits, attempt))
  },
  eraseVolumes: async (service, attempt) => {
    const row = await findService(options.database, service)
    // A cancelled copy to another engine may have left something on the engine of its source.
    const owners = row ? [service] : [service, scratchOf(service)]
    const engines = enginesOfRow(options.engines, row)
    await Promise.all(engines.flatMap((engine) => owners.map((owner) => engine.erase(owner, attempt))))
  },
})

/** All services of a copy are in one environment, as all copies are. */
async function findEngine(
  { database, engines }: VolumeCopierOptions,
  service: string | undefined,
): Promise<NamedEngine<VolumeStore & Runner>> {
  const row = service === undefined ? undefined : await findService(database, service)
  const name = row ? row.cluster_engine : localEngine
  return { name: name ?? '', engine: engines.engineOf({ engine: name }) }
}
