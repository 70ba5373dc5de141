import type { Static } from '@quayside/contract'
import type { Port, PortRequest, Storage, StorageRequest } from '@quayside/contract/services/ports.ts'
import { newId } from '../../lib/id.ts'

export type PortSettings = Static<typeof Port>
export type StorageSettings = Static<typeof Storage>
type PortBody = Static<typeof PortRequest>
type StorageBody = Static<typeof StorageRequest>

/** Returns the ports; existing ones keep their ids even if the body does not name them. */
export const portsOf = (
  ports: readonly PortBody[] | undefined,
  former: readonly PortSettings[] | undefined,
): readonly PortSettings[] =>
  ports ? ports.map((port, index) => portSettings(port, index, ports, former ?? [])) : (former ?? [])

/** Returns the storages; existing ones keep their ids, because a volume is found by its id. */
export const storageOf = (
  storage: readonly StorageBody[] | undefined,
  former: readonly StorageSettings[] | undefined,
): readonly StorageSettings[] =>
  storage?.map((volume) => storageSettings(volume, storage, former ?? [])) ?? former ?? []

function portSettings(
  port: PortBody,
  index: number,
  all: readonly PortBody[],
  former: readonly PortSettings[],
): PortSettings {
  const kept = keptId(port, all, former, (one, other) => one.internal_port === other.internal_port)
  const firstHttp = all.findIndex(isRouted)
  const firstPublic = firstHttp === -1 ? all.findIndex((candidate) => candidate.publicly_accessible) : firstHttp
  const anyDefault = all.some((candidate) => candidate.is_default)
  const external = port.external_port ?? defaultExternal(port)
  return {
    id: kept ?? newId(),
    name: port.name ?? `p${port.internal_port}`,
    internal_port: port.internal_port,
    publicly_accessible: port.publicly_accessible,
    protocol: port.protocol,
    is_default: anyDefault ? port.is_default === true : index === firstPublic,
    ...(external === undefined ? {} : { external_port: external }),
    ...(port.public_path ? { public_path: port.public_path } : {}),
    ...(port.public_path_rewrite ? { public_path_rewrite: port.public_path_rewrite } : {}),
  }
}

/** Whether a port has a host name at the router: it is public and speaks HTTP or gRPC. */
export const isRouted = ({
  publicly_accessible,
  protocol,
}: Pick<PortBody, 'publicly_accessible' | 'protocol'>): boolean =>
  publicly_accessible && (protocol === 'HTTP' || protocol === 'GRPC')

/**
 * Returns 443 for ports behind the router, the same port for public TCP and UDP, undefined for
 * private ports.
 */
function defaultExternal(port: PortBody): number | undefined {
  if (!port.publicly_accessible) return undefined
  return isRouted(port) ? 443 : port.internal_port
}

const storageSettings = (
  volume: StorageBody,
  all: readonly StorageBody[],
  former: readonly StorageSettings[],
): StorageSettings => ({
  ...volume,
  id: keptId(volume, all, former, (one, other) => one.mount_point === other.mount_point) ?? newId(),
})

interface Identified {
  readonly id?: string | null
}

/**
 * Returns the previous id of a list entry: the id that it names, otherwise that of its earlier
 * version unless another entry names it.
 */
export function keptId<B extends Identified, F extends { readonly id: string }>(
  entry: B,
  all: readonly B[],
  former: readonly F[],
  isSame: (one: F, other: B) => boolean,
): string | undefined {
  const named = former.find(({ id }) => id === entry.id)
  const self = former.find((candidate) => isSame(candidate, entry) && !all.some(({ id }) => id === candidate.id))
  return (named ?? self)?.id
}
