import type { EngineDisk } from '../engines/index.ts'
import type { Needs as Read } from './disk-store.ts'

/** The needs that decide what may be removed. */
export type Needs = Pick<Read, 'kept' | 'services'> & { readonly fetched: readonly Read['fetched'][number][] }

/** Disk space in bytes. `freeable_bytes` is the part that can be removed because it is unneeded. */
export interface DiskPart {
  readonly name: 'IMAGES' | 'BUILD_CACHE' | 'VOLUMES' | 'LOGS'
  readonly count: number
  readonly bytes: number
  readonly freeable_bytes: number
}

export interface DiskUsage {
  readonly disk_bytes: number
  readonly disk_free_bytes: number
  readonly budget_bytes: number
  readonly parts: readonly DiskPart[]
}

/** Images that may be removed, the oldest first. */
export interface Freeable {
  /** Fetched images that no kept version has. */
  readonly fetched: readonly string[]
  /** Services with built images that their kept versions do not need, and the images to keep. */
  readonly built: readonly { readonly service: string; readonly kept: readonly string[] }[]
}

/** A deployment that fetches an image may not have recorded it in its version yet. */
const freshMs = 3600_000

/** Returns fetched references that no kept version has, least recently used first. */
export function unneeded({ kept, fetched }: Needs, now: Date): string[] {
  const needed = new Set([...kept.values()].flat().map(({ reference }) => reference))
  const isOld = (used: Date): boolean => now.getTime() - used.getTime() > freshMs
  return fetched.flatMap(({ reference, used_at }) => (isOld(used_at) && !needed.has(reference) ? [reference] : []))
}

export interface SortOptions {
  readonly now: Date
  readonly logs: { readonly count: number; readonly bytes: number }
  /** Undefined means half of the disk. Build caches, which have no owner, are then kept. */
  readonly budgetBytes: number | undefined
}

/**
 * Pure: returns the platform's share of a disk and the images that may be removed. Images of others
 * and of services being deployed are kept.
 */
export function sortDisk(
  disk: EngineDisk,
  needs: Needs,
  { now, logs, budgetBytes }: SortOptions,
): { usage: DiskUsage; freeable: Freeable } {
  const fetched = new Set(needs.fetched.map(({ reference }) => reference))
  const idle = new Set(unneeded(needs, now))
  const keptOf = (service: string): string[] => (needs.kept.get(service) ?? []).map(({ reference }) => reference)
  const built = disk.images.filter(({ services }) => services.some((service) => needs.services.has(service)))
  const brought = disk.images.filter(({ references }) => references.some((one) => fetched.has(one)))
  // If several services share an image, each removes its own tag and the last one the image.
  const isGivenUp = (service: string, { references }: { readonly references: readonly string[] }): boolean =>
    needs.services.get(service)?.isBusy === false && !references.some((one) => keptOf(service).includes(one))
  const mayGo = built.filter((image) => image.services.every((service) => isGivenUp(service, image)))
  const idleImages = brought.filter(({ references }) => references.some((one) => idle.has(one)))
  const ours = [...new Set([...built, ...brought])]
  const sum = (list: readonly { readonly bytes: number }[]): number => list.reduce((all, { bytes }) => all + bytes, 0)
  const parts: DiskPart[] = [
    part('IMAGES', ours.length, sum(ours), sum([...new Set([...mayGo, ...idleImages])])),
    part('BUILD_CACHE', 0, disk.buildCache.bytes, budgetBytes === undefined ? 0 : disk.buildCache.freeableBytes),
    part('VOLUMES', disk.volumes.length, sum(disk.volumes), 0),
    part('LOGS', logs.count, logs.bytes, 0),
  ]
  const byAge = built
    .toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime())
    .flatMap((image) => image.services.filter((service) => isGivenUp(service, image)))
  return {
    usage: {
      disk_bytes: disk.totalBytes,
      disk_free_bytes: disk.freeBytes,
      budget_bytes: budgetBytes ?? Math.floor(disk.totalBytes / 2),
      parts,
    },
    freeable: {
      fetched: [...idle],
      built: [...new Set(byAge)].map((service) => ({ service, kept: keptOf(service) })),
    },
  }
}

const part = (name: DiskPart['name'], count: number, bytes: number, freeable_bytes: number): DiskPart => ({
  name,
  count,
  bytes,
  freeable_bytes,
})

/** Returns the bytes by which the platform exceeds its budget. */
export const excess = ({ budget_bytes, parts }: DiskUsage): number =>
  Math.max(0, parts.reduce((all, { bytes }) => all + bytes, 0) - budget_bytes)

/**
 * Returns the log line for an exceeded budget. `left` is the remaining excess in bytes,
 * `freeableCacheBytes` what build caches could free.
 */
export function excessText(left: number, freeableCacheBytes: number, budgetBytes: number | undefined): string {
  if (left === 0) return 'the disk budget was exceeded; build caches were removed'
  const exceeded = 'the disk budget is exceeded, and'
  if (budgetBytes !== undefined || freeableCacheBytes === 0) return `${exceeded} nothing is left that may be removed`
  return (
    `${exceeded} build caches are removed only where QUAYSIDE_DISK_BUDGET is set: set it (in GiB) unless other ` +
    'programs build on the engine'
  )
}
