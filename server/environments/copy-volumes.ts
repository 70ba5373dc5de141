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

/** What the copying of volumes needs of other rooms. */
export interface VolumeCopierOptions {
  readonly database: Database
  readonly engines: Pick<Engines<VolumeStore & Runner>, 'all' | 'engineOf'>
  /** For how long what uses a volume may be paused. */
  readonly mostStandingSeconds: number
  /** Retries while the engine cannot be reached. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
}

/**
 * Copies volumes on the engine of their services, and removes those of services without a row on
 * all engines.
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

/**
 * Returns the engine of services and their copies. Throws if they are on clusters of different
 * engines.
 */
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
  if (names.size > 1) throw new EngineError('refused', 'data cannot be copied to the cluster of another engine')
  return engines.engineOf({ engine: name })
}
