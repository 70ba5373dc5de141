import type { Database } from '../database/index.ts'
import {
  EngineError,
  type Engines,
  enginesOfRow,
  localEngine,
  type Runner,
  type VolumeStore,
} from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { findService } from '../services/index.ts'
import type { ServiceData, VolumeCopier } from './data-copy.ts'

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
 * Copies volumes on the engine of their services and erases volumes. Volumes of a service without
 * a row are erased on all engines.
 */
export const createVolumeCopier = (options: VolumeCopierOptions): VolumeCopier => ({
  copyVolumes: async (planned, tell, attempt) => {
    const engine = await engineOfCopy(options, planned)
    const copies = planned.flatMap(({ source, service, environment, volumes, archiveCommand }) => {
      const archive = archiveCommand.length > 0 ? { archive: { service: source, command: archiveCommand } } : {}
      return volumes.map((volume) => ({ ...volume, owner: { service, environment }, ...archive }))
    })
    const limits = { mostStandingSeconds: options.mostStandingSeconds, tell }
    return options.patiently(attempt, () => engine.copyVolumes(copies, limits, attempt))
  },
  eraseVolumes: async (service, attempt) => {
    const row = await findService(options.database, service)
    await Promise.all(enginesOfRow(options.engines, row).map((engine) => engine.erase(service, attempt)))
  },
})

/** Returns the engine of the services and their copies. Throws if they use different engines. */
async function engineOfCopy(
  { database, engines }: VolumeCopierOptions,
  planned: readonly ServiceData[],
): Promise<VolumeStore> {
  const names = new Set<string | null>()
  for (const id of planned.flatMap(({ source, service }) => [source, service])) {
    const row = await findService(database, id)
    if (row) names.add(row.cluster_engine)
  }
  const [name = localEngine] = names
  if (names.size > 1) throw new EngineError('refused', 'data cannot be copied to a cluster on another engine')
  return engines.engineOf({ engine: name })
}
