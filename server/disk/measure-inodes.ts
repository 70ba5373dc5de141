import type { Database } from '../database/index.ts'
import type { DiskMeter, DiskSpace } from '../engines/index.ts'
import type { Logger } from '../lib/log.ts'
import { readLayerLimits, readStorageSizes } from './disk-store.ts'
import { type FullInodes, fullInodes, mostInodes, noneFull, organizationInodes } from './full-inodes.ts'
import type { OrganizationDisk } from './organization-disk.ts'
import { readOwners } from './organization-store.ts'

export interface MeasureInodesOptions {
  readonly database: Database
  readonly engine: DiskMeter
  readonly log: Logger
  readonly organizations?: Pick<OrganizationDisk, 'isLimited'>
}

/** Finds services and runs with too many inodes. If counting fails, logs it and ends nothing. */
export async function measureInodes(
  { database, engine, log, organizations }: MeasureInodesOptions,
  space: DiskSpace,
  signal: AbortSignal,
): Promise<FullInodes> {
  const most = mostInodes(space)
  const facts = { totalInodes: space.totalInodes, freeInodes: space.freeInodes }
  try {
    const counts = await engine.countInodes(most, signal)
    if (counts) {
      const known = {
        storages: await readStorageSizes(database),
        releases: await readLayerLimits(database),
        organizationOf: new Map(
          (await readOwners(database, [])).map(({ id, organization_id }) => [id, organization_id]),
        ),
        organizationMost: organizationInodes(space, organizations?.isLimited ?? false),
      }
      return fullInodes(counts, known, most)
    }
    log.warn(facts, 'the engine’s disk runs out of inodes, and its directory cannot be read to count them')
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ ...facts, err: error }, 'the engine’s disk runs out of inodes, and they could not be counted')
  }
  return noneFull
}
