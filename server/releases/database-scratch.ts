import type { LongRunning, Release } from '../engines/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { engineRelease, type ReleaseReader } from './engine-release.ts'
import { findDeployedRelease, type ReleaseRow } from './release-store.ts'

/** The identity of a database version that is started on the side. */
export interface Scratch {
  /** The id of its service and its environment, which have no rows. */
  readonly id: string
  /** The volume that replaces its own. */
  readonly volume: string
}

/**
 * Whether a service can be tried on other data. An application would contact other systems and
 * repeat its work.
 */
export const isTriedOnData = ({ kind }: Pick<ServiceRow, 'kind'>): boolean => kind === 'database'

/**
 * Returns the running or last version of a service, ready to start in isolation: with another
 * volume, its own network, and no port of the machine. Undefined if there is no such version.
 */
export async function scratchRelease(
  reader: ReleaseReader,
  service: Pick<ServiceRow, 'id' | 'organization_id'>,
  { id, volume }: Scratch,
): Promise<{ readonly release: Release; readonly row: ReleaseRow } | undefined> {
  const row = await findDeployedRelease(reader.database, service.id)
  if (!row) return undefined
  const { release } = await engineRelease(reader, service.organization_id, row)
  const { publishedPorts: _, labels: __, annotations: ___, ...own } = release.workload
  const workload: LongRunning = {
    ...own,
    replicas: { min: 1, max: 1 },
    storage: own.storage.map((storage) => ({ ...storage, id: volume })),
  }
  // An engine finds replicas by the id of the service. With the real id it would take the serving
  // ones.
  return { row, release: { ...release, id, service: id, environment: id, workload } }
}
