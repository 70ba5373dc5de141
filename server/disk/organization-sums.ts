import type { EngineDisk } from '../engines/index.ts'

/** The organization that owns a service, a backup in progress or an execution. */
export interface Owner {
  readonly id: string
  readonly organization_id: string
  readonly is_service: boolean
}

/** The result of a measurement. */
export interface Found {
  readonly disk: Pick<EngineDisk, 'volumes' | 'layers' | 'runs' | 'images'>
  /** Bytes of logs by the id of their service or execution. */
  readonly logs: ReadonlyMap<string, number>
  /** Bytes of repositories by organization. */
  readonly repositories: ReadonlyMap<string, number>
}

/** The part name of a service's writable layers. The part of a volume is its storage's id. */
export const layersPart = 'LAYERS'

/** The bytes of one volume of a service, or of all its writable layers. */
export interface ServicePart {
  readonly service_id: string
  readonly organization_id: string
  readonly part: string
  readonly bytes: number
}

/** The bytes of an organization that are not counted per service. */
export interface SharedBytes {
  readonly images: number
  readonly repositories: number
  readonly logs: number
  /** Bytes of volumes and layers of backups in progress. */
  readonly scratch: number
}

export interface Sums {
  readonly services: readonly ServicePart[]
  readonly organizations: ReadonlyMap<string, SharedBytes>
}

const none: SharedBytes = { images: 0, repositories: 0, logs: 0, scratch: 0 }

/**
 * Pure: sums a measurement by organization. Things without an owner do not count. An image counts
 * for each organization that has a tag of it.
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

/** A part in the previous measurement. Growth is counted from `kept_bytes`. */
export interface FormerPart {
  readonly service_id: string
  readonly part: string
  readonly kept_bytes: number
}

/** The growth that a service is allowed while its organization is beyond the limit. */
const spareGrowth = 16 * 1024 ** 2

/** A part with the size from which the next measurement counts growth. */
export interface KeptPart extends ServicePart {
  readonly kept_bytes: number
}

/**
 * Pure: returns services that grew by more than the allowed growth, and the sizes from which growth
 * is counted next. `judged` are the organizations beyond their limit. Their growth stays counted,
 * so a service restarted without more room is found again. `known` are the organizations that have
 * been measured before.
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
