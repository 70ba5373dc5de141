import type { EngineDisk } from '../engines/index.ts'

/** The size that a storage of a running version was given. */
export interface StorageSize {
  readonly service_id: string
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
    const text = `Its volume ${mount_point ?? 'of data'} takes ${inGiB(bytes)} GiB, more than its size of ${size_gib} GiB. Delete data, or enlarge the storage and deploy again.`
    troubles.set(service_id, before === undefined ? text : `${before} ${text}`)
  }
  return troubles
}

const inGiB = (bytes: number): string => (Math.ceil((bytes / gibibyte) * 10) / 10).toFixed(1)
