import type { DiskSpace, InodeCounts } from '../engines/index.ts'
import type { LayerLimit } from './full-layers.ts'
import { type FullRun, rowOfRun } from './full-runs.ts'
import type { StorageSize } from './full-volumes.ts'

/**
 * Pure: returns how many inodes a service or run may have when they run short: a tenth of the
 * disk's inodes.
 */
export const mostInodes = ({ totalInodes }: Pick<DiskSpace, 'totalInodes'>): number => Math.floor(totalInodes / 10)

/**
 * Pure: whether inodes run short: less than a tenth is free, or a twentieth was used since the last
 * measurement. File systems that create inodes on demand never run short.
 */
export function areInodesShort({ totalInodes, freeInodes }: DiskSpace, mostFreeInodes: number): boolean {
  if (totalInodes === 0) return false
  return freeInodes < totalInodes / 10 || mostFreeInodes - freeInodes > totalInodes / 20
}

/** Services and runs with too many inodes, and the reasons. */
export interface FullInodes {
  readonly services: ReadonlyMap<string, string>
  readonly runs: readonly FullRun[]
}
export const noneFull: FullInodes = { services: new Map(), runs: [] }

/** Pure: returns services and runs that have more inodes than allowed, with the reason. */
export function fullInodes(
  counts: InodeCounts,
  known: { readonly storages: readonly StorageSize[]; readonly releases: readonly LayerLimit[] },
  most: number,
): FullInodes {
  const serviceOf = new Map(known.storages.map(({ storage_id, service_id }) => [storage_id, service_id]))
  const releaseOf = new Map(known.releases.map(({ service_id, release_id }) => [service_id, release_id]))
  const services = new Map<string, number>()
  const runs = new Map<string, number>()
  const add = (sums: Map<string, number>, id: string | undefined, inodes: number): void => {
    if (id !== undefined) sums.set(id, (sums.get(id) ?? 0) + inodes)
  }
  for (const { id, inodes } of counts.volumes) add(services, serviceOf.get(id), inodes)
  for (const { service, release, inodes } of counts.layers) {
    if (releaseOf.get(service) === release) add(services, service, inodes)
  }
  for (const { run, inodes } of counts.runs) add(runs, rowOfRun(run), inodes)
  const full = (sums: Map<string, number>): string[] => [...sums].flatMap(([id, sum]) => (sum > most ? [id] : []))
  return {
    services: new Map(full(services).map((id) => [id, stopText(most)])),
    runs: full(runs).map((id) => ({ id, reason: endText(most) })),
  }
}

const cause = (most: number): string =>
  `more than ${most} files and directories on the disk of the engine, a tenth of what it has room for, and ` +
  'the disk runs out of inodes'

const stopText = (most: number): string =>
  `It was stopped: its volumes and replicas have ${cause(most)}. Delete files of its volumes, or put fewer ` +
  'files there, and deploy again.'

const endText = (most: number): string => `It was ended: it has ${cause(most)}. Make it write fewer files.`
