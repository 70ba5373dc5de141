import type { EngineDisk } from '../engines/index.ts'

/**
 * Whose something is: the organization of a service, of a backup in progress or of an execution.
 */
export interface Owner {
  readonly id: string
  readonly organization_id: string
  readonly is_service: boolean
}

/** What a measurement found. */
export interface Found {
  readonly disk: Pick<EngineDisk, 'volumes' | 'layers' | 'runs' | 'images'>
  /** Bytes of logs, by the id of their service or execution. */
  readonly logs: ReadonlyMap<string, number>
  /** Bytes of repositories, by organization. */
  readonly repositories: ReadonlyMap<string, number>
}

/**
 * The part of a service under which writable layers of its replicas and runs count; volumes count
 * under the ids of their storages.
 */
export const layersPart = 'LAYERS'

/** Bytes of one volume, or of all writable layers, of a service. */
export interface ServicePart {
  readonly service_id: string
  readonly organization_id: string
  readonly part: string
  readonly bytes: number
}

/** Bytes of one organization that belong to none of its services alone. */
export interface SharedBytes {
  readonly images: number
  readonly repositories: number
  readonly logs: number
  /** Volumes and layers of backups in progress. */
  readonly scratch: number
}

export interface Sums {
  readonly services: readonly ServicePart[]
  readonly organizations: ReadonlyMap<string, SharedBytes>
}

const none: SharedBytes = { images: 0, repositories: 0, logs: 0, scratch: 0 }

/**
 * Pure: sums a measurement by organization. Things without an owner count for nobody; an image
 * counts for each organization that has a tag of it.
 */
export function sumByOrganization({ disk, logs, repositories }: Found, owners: readonly Owner[]): Sums {
  const byId = new Map(owners.map((owner) => [owner.id, owner]))
  const organizations = new Map<string, SharedBytes>()
  const services = new Map<string, ServicePart>()
  const add = (organization: string | undefined, part: keyof SharedBytes, bytes: number): void => {
    if (organization === undefined) return
    const before = organizations.get(organization) ?? none
    organizations.set(organization, { ...before, [part]: before[part] + bytes })
  }
  const addPart = (id: string | undefined, part: string, bytes: number): void => {
    const owner = id === undefined ? undefined : byId.get(id)
    if (!owner) return
    const { organization_id } = owner
    if (!owner.is_service) {
      add(organization_id, 'scratch', bytes)
      return
    }
    const key = `${owner.id} ${part}`
    const before = services.get(key)?.bytes ?? 0
    services.set(key, { service_id: owner.id, organization_id, part, bytes: before + bytes })
  }
  for (const { id, service, bytes } of disk.volumes) addPart(service, id, bytes)
  for (const { service, bytes } of [...disk.layers, ...disk.runs]) addPart(service, layersPart, bytes)
  for (const image of disk.images) {
    const having = new Set(image.services.map((service) => byId.get(service)?.organization_id))
    for (const organization of having) add(organization, 'images', image.bytes)
  }
  for (const [id, bytes] of logs) add(byId.get(id)?.organization_id, 'logs', bytes)
  for (const [organization, bytes] of repositories) add(organization, 'repositories', bytes)
  return { services: [...services.values()], organizations }
}

/**
 * A part of a service as stored by the measurement before; `kept_bytes` is what growth is counted
 * from.
 */
export interface FormerPart {
  readonly service_id: string
  readonly part: string
  readonly kept_bytes: number
}

/** A service may grow so much while its organization is beyond the limit. */
const spareGrowth = 16 * 1024 ** 2

/** A part with what the next measurement counts growth from. */
export interface KeptPart extends ServicePart {
  readonly kept_bytes: number
}

/**
 * Pure: how much each service grew, if it is more than a little, and what growth is counted from
 * next. `judged` are the organizations beyond their limit: what their services grew stays counted,
 * so that one that is started again without more room is found again. `known` are the organizations
 * that were measured before.
 */
export function countGrowth(
  parts: readonly ServicePart[],
  former: readonly FormerPart[],
  { judged, known }: { readonly judged: ReadonlySet<string>; readonly known: ReadonlySet<string> },
): { readonly grown: ReadonlyMap<string, number>; readonly kept: readonly KeptPart[] } {
  const before = new Map(former.map(({ service_id, part, kept_bytes }) => [`${service_id} ${part}`, kept_bytes]))
  const grown = new Map<string, number>()
  const kept = parts.map((part): KeptPart => {
    const { service_id, organization_id, bytes } = part
    const from = before.get(`${service_id} ${part.part}`) ?? (known.has(organization_id) ? 0 : bytes)
    if (bytes - from > spareGrowth) grown.set(service_id, (grown.get(service_id) ?? 0) + bytes - from)
    return { ...part, kept_bytes: judged.has(organization_id) ? Math.min(from, bytes) : bytes }
  })
  return { grown, kept }
}
