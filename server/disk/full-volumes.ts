import type { EngineDisk } from '../engines/index.ts'

/** The size that a storage of a running version was given. */
export interface StorageSize {
  readonly service_id: string
  readonly release_id: string
  readonly storage_id: string
  /** Null: the data of a database. */
  readonly mount_point: string | null
  readonly size_gib: number
}

const gibibyte = 1024 ** 3

/** Pure: what is wrong with the services whose volumes take more than their size, by service. */
export function fullVolumes(
  volumes: EngineDisk['volumes'],
  sizes: readonly StorageSize[],
): ReadonlyMap<string, string> {
  const taken = new Map(volumes.map(({ id, bytes }) => [id, bytes]))
  const troubles = new Map<string, string>()
  for (const { service_id, storage_id, mount_point, size_gib } of sizes) {
    const bytes = taken.get(storage_id) ?? 0
    if (bytes <= size_gib * gibibyte) continue
    const before = troubles.get(service_id)
    const text =
      `Its volume ${mount_point ?? 'of data'} takes ${inGiB(bytes)} GiB, more than its size of ${size_gib} ` +
      'GiB. Delete data, or enlarge the storage and deploy again.'
    troubles.set(service_id, before === undefined ? text : `${before} ${text}`)
  }
  return troubles
}

/** Beyond this many times its size, a volume stops its service at once. */
const atOnce = 1.5
/** Beyond this many times its size, it does so when two measurements in a row have found that. */
const atSecond = 1.1

/** Services to stop, with the reason, and those that the next measurement decides on. */
export interface Verdict {
  readonly stop: ReadonlyMap<string, string>
  readonly watch: ReadonlyMap<string, string>
}

/**
 * Pure: judges a measurement. `watched` are the services that the measurement before found beyond
 * the limit.
 */
export function judgeVolumes(
  volumes: EngineDisk['volumes'],
  sizes: readonly StorageSize[],
  watched: ReadonlySet<string>,
): Verdict {
  const taken = new Map(volumes.map(({ id, bytes }) => [id, bytes]))
  const stop = new Map<string, string>()
  const watch = new Map<string, string>()
  for (const { service_id, storage_id, mount_point, size_gib } of sizes) {
    const bytes = taken.get(storage_id) ?? 0
    const times = bytes / (size_gib * gibibyte)
    if (times <= atSecond) continue
    const isOver = times > atOnce || watched.has(service_id)
    const verdict = isOver ? stop : watch
    if (!verdict.has(service_id)) verdict.set(service_id, stopText(mount_point, inGiB(bytes), size_gib))
  }
  for (const id of stop.keys()) watch.delete(id)
  return { stop, watch }
}

const stopText = (mountPoint: string | null, takes: string, size: number): string =>
  `It was stopped: its volume ${mountPoint ?? 'of data'} takes ${takes} GiB, and its size is ${size} GiB. ` +
  `Raise the size of the storage above ${takes} GiB and deploy again.`

const inGiB = (bytes: number): string => (Math.ceil((bytes / gibibyte) * 10) / 10).toFixed(1)
