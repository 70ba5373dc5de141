import type { LongRunning, Release } from '../engines/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { engineRelease, type ReleaseReader } from './engine-release.ts'
import { findDeployedRelease, type ReleaseRow } from './release-store.ts'

/** A version of a database as it can be started on the side. */
export interface Scratch {
  /** Of the service and of the environment that it stands in, which have no records. */
  readonly id: string
  /** The volume that it has in place of its own. */
  readonly volume: string
}

/**
 * Whether a service can be tried on other data: an application would speak to others, and do its
 * work twice.
 */
export const isTriedOnData = ({ kind }: Pick<ServiceRow, 'kind'>): boolean => kind === 'database'

/**
 * The version of a service that runs, or ran last, to be started where nobody reaches it: with
 * another volume, in a network of its own, and without a port of the machine. Undefined where there
 * is none.
 */
export async function scratchRelease(
  reader: ReleaseReader,
  service: Pick<ServiceRow, 'id' | 'organization_id'>,
  { id, volume }: Scratch,
): Promise<{ readonly release: Release; readonly row: ReleaseRow } | undefined> {
  const row = await findDeployedRelease(reader.database, service.id)
  if (!row) return undefined
  const { release } = await engineRelease(reader, service.organization_id, row)
  const { publishedPorts: _, labels: __, ...own } = release.workload
  const workload: LongRunning = {
    ...own,
    replicas: { min: 1, max: 1 },
    storage: own.storage.map((storage) => ({ ...storage, id: volume })),
  }
  // An engine finds what runs of a release by its id: by that of the service it would take what
  // serves.
  return { row, release: { ...release, id, service: id, environment: id, workload } }
}
