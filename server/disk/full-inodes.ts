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
 * Pure: returns how many inodes an organization may have: half of the disk's, once less than a
 * tenth is free. Before that, and without a limit for organizations, undefined.
 */
export const organizationInodes = (
  { totalInodes, freeInodes }: Pick<DiskSpace, 'totalInodes' | 'freeInodes'>,
  isLimited: boolean,
): number | undefined => (isLimited && freeInodes < totalInodes / 10 ? Math.floor(totalInodes / 2) : undefined)

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

/** The owners and limits that decide about the counts. */
export interface KnownOwners {
  readonly storages: readonly StorageSize[]
  readonly releases: readonly LayerLimit[]
  /** Organizations of services. */
  readonly organizationOf: ReadonlyMap<string, string>
  /** The inodes that an organization may have. Undefined for no limit. */
  readonly organizationMost: number | undefined
}

/**
 * Pure: returns services and runs that have more inodes than allowed, with the reason. If the rest
 * of an organization has more than its share, so do its largest ones.
 */
export function fullInodes(counts: InodeCounts, known: KnownOwners, most: number): FullInodes {
  const services = new Map<string, string>()
  const runs: FullRun[] = []
  for (const [organization, holders] of Map.groupBy(holdersOf(counts, known), (one) => one.organization)) {
    const large = holders.filter(({ inodes }) => inodes > most)
    const rest = holders.filter(({ inodes }) => inodes <= most)
    const excess = organization === undefined ? [] : largestBeyond(rest, known.organizationMost)
    const all = [
      ...large.map((one) => ({ ...one, cause: tenthOf(most) })),
      ...excess.map((one) => ({ ...one, cause: partOf(known.organizationMost ?? 0, one.inodes) })),
    ]
    for (const { id, isRun, cause } of all) {
      if (isRun) runs.push({ id, reason: endText(cause) })
      else services.set(id, stopText(cause))
    }
  }
  return { services, runs }
}

/** A service or a run with its inodes. */
interface Holder {
  readonly id: string
  readonly isRun: boolean
  readonly inodes: number
  /** Undefined if the service was deleted. */
  readonly organization: string | undefined
}

function holdersOf({ volumes, layers, runs }: InodeCounts, known: KnownOwners): Holder[] {
  const serviceOf = new Map(known.storages.map(({ storage_id, service_id }) => [storage_id, service_id]))
  const releaseOf = new Map(known.releases.map(({ service_id, release_id }) => [service_id, release_id]))
  const holders = new Map<string, Holder>()
  const add = (id: string | undefined, service: string | undefined, inodes: number): void => {
    if (id === undefined || service === undefined) return
    const sum = (holders.get(id)?.inodes ?? 0) + inodes
    holders.set(id, { id, isRun: id !== service, inodes: sum, organization: known.organizationOf.get(service) })
  }
  for (const { id, inodes } of volumes) add(serviceOf.get(id), serviceOf.get(id), inodes)
  for (const { service, release, inodes } of layers) {
    if (releaseOf.get(service) === release) add(service, service, inodes)
  }
  for (const { service, run, inodes } of runs) add(rowOfRun(run), service, inodes)
  return [...holders.values()]
}

/** Returns the largest ones, so that the others have at most `most` together. */
function largestBeyond(holders: readonly Holder[], most: number | undefined): Holder[] {
  let left = holders.reduce((sum, { inodes }) => sum + inodes, 0)
  const found: Holder[] = []
  for (const holder of holders.toSorted((a, b) => b.inodes - a.inodes)) {
    if (most === undefined || left <= most) break
    found.push(holder)
    left -= holder.inodes
  }
  return found
}

const shortage = 'the disk of the engine runs out of inodes'

const tenthOf = (most: number): string =>
  `${shortage}, and more than ${most} files and directories there, a tenth of what it has room for, are its own`

const partOf = (most: number, inodes: number): string =>
  `${shortage}. Its organization has more than ${most} files and directories there, half of what it has room ` +
  `for, and ${inodes} of them are its own`

const stopText = (cause: string): string =>
  `It was stopped: ${cause}. Delete files of its volumes, or put fewer files there, and deploy again.`

const endText = (cause: string): string => `It was ended: ${cause}. Make it write fewer files.`
