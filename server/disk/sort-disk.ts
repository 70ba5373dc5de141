import type { EngineDisk } from '../engines/index.ts'
import type { Needs as Read } from './disk-store.ts'

/** The parts of them that decide. */
export type Needs = Pick<Read, 'kept' | 'services'> & { readonly fetched: readonly Read['fetched'][number][] }

/** What takes space, in bytes; `freeable_bytes`: what nothing needs, and would be removed first. */
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

/** Images that may go, the oldest first. */
export interface Freeable {
  /** Fetched ones that no kept version has. */
  readonly fetched: readonly string[]
  /** Services with built images that none of their kept versions has, and what to keep. */
  readonly built: readonly { readonly service: string; readonly kept: readonly string[] }[]
}

/** A deployment that fetches an image may not have written down yet that its version needs it. */
const freshMs = 3600_000

/** References that were fetched and that no kept version has, the longest unused first. */
export function unneeded({ kept, fetched }: Needs, now: Date): string[] {
  const needed = new Set([...kept.values()].flat().map(({ reference }) => reference))
  const isOld = (used: Date): boolean => now.getTime() - used.getTime() > freshMs
  return fetched.flatMap(({ reference, used_at }) => (isOld(used_at) && !needed.has(reference) ? [reference] : []))
}

export interface SortOptions {
  readonly now: Date
  readonly logs: { readonly count: number; readonly bytes: number }
  /** Undefined: half of the disk, and caches, which have no owner, stay as they are. */
  readonly budgetBytes: number | undefined
}

/**
 * Pure: whose what is, and what of it may go. Images of others, and those of services that are
 * being deployed, may not.
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
  // Of an image that several services have, each gives up its own tag, and the last one the image.
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

/** By how many bytes the platform takes more than it may. */
export const excess = ({ budget_bytes, parts }: DiskUsage): number =>
  Math.max(0, parts.reduce((all, { bytes }) => all + bytes, 0) - budget_bytes)

/**
 * What the log says of a budget that was exceeded; `left`: by how many bytes it still is,
 * `freeableCacheBytes`: what caches could give.
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
