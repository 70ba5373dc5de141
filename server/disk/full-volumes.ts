import type { EngineDisk } from '../engines/index.ts'

/** The size of a storage in a running version. */
export interface StorageSize {
  readonly service_id: string
  readonly release_id: string
  readonly storage_id: string
  /** Null for the data of a database. */
  readonly mount_point: string | null
  readonly size_gib: number
}

const gibibyte = 1024 ** 3

/** Pure: returns services whose volumes are beyond their size, with the reason. */
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

/** A volume beyond this multiple of its size stops its service at once. */
const atOnce = 1.5
/** Beyond this multiple it does so at the second measurement in a row that finds it. */
const atSecond = 1.1

/** Services to stop, with the reason, and services that the next measurement decides on. */
export interface Verdict {
  readonly stop: ReadonlyMap<string, string>
  readonly watch: ReadonlyMap<string, string>
}

/** Pure: judges a measurement. `watched` services were beyond the limit in the previous one. */
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
