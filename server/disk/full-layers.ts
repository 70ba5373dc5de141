import type { EngineDisk } from '../engines/index.ts'

export interface LayerLimit {
  readonly service_id: string
  readonly release_id: string
  /** Null if the platform's limit applies. */
  readonly limit_gib: number | null
}

const gibibyte = 1024 ** 3

/**
 * Pure: returns services with a replica that wrote more outside its volumes than its limit, with
 * the reason.
 */
export function fullLayers(
  layers: EngineDisk['layers'],
  limits: readonly LayerLimit[],
  usualGiB: number,
): ReadonlyMap<string, string> {
  const most = new Map<string, number>()
  const keyOf = (service: string, release: string): string => `${service} ${release}`
  for (const { service, release, bytes } of layers) {
    const key = keyOf(service, release)
    most.set(key, Math.max(most.get(key) ?? 0, bytes))
  }
  const found = new Map<string, string>()
  for (const { service_id, release_id, limit_gib } of limits) {
    const bytes = most.get(keyOf(service_id, release_id)) ?? 0
    const limit = limit_gib ?? usualGiB
    if (bytes > limit * gibibyte) found.set(service_id, reasonOf(bytes, limit))
  }
  return found
}

const reasonOf = (bytes: number, limit: number): string =>
  `It was stopped: a replica wrote ${(Math.ceil((bytes / gibibyte) * 10) / 10).toFixed(1)} GiB outside of ` +
  `its volumes, and its limit is ${limit} GiB. Write to a storage or raise ephemeral_storage_in_gib, and ` +
  'deploy again.'
