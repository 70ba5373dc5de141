import type { Static } from '@quayside/contract'
import type {
  ApplicationCreate,
  ApplicationEdit,
  Healthchecks,
  Port,
  Storage,
} from '@quayside/contract/services/application.ts'
import { newId } from '../lib/id.ts'
import { inferProvider } from './git-address.ts'

export type ApplicationBody = Static<typeof ApplicationCreate>
export type ApplicationChange = Static<typeof ApplicationEdit>
export type PortSettings = Static<typeof Port>
export type StorageSettings = Static<typeof Storage>

/** What `service.settings` holds for an application: wire names, defaults filled in. */
export interface ApplicationSettings {
  readonly git_repository: {
    readonly url: string
    readonly provider: 'BITBUCKET' | 'GITHUB' | 'GITLAB'
    /** Absent: the repository's main or master. */
    readonly branch?: string
    readonly root_path: string
    readonly git_token_id: string | null
  }
  readonly build_mode: 'DOCKER'
  readonly dockerfile_path: string | null
  readonly docker_target_build_stage: string | null
  readonly cpu: number
  readonly memory: number
  readonly gpu: number
  readonly ephemeral_storage_in_gib?: number
  readonly cpu_architecture: 'AMD64' | 'ARM64' | null
  readonly min_running_instances: number
  readonly max_running_instances: number
  readonly healthchecks: Static<typeof Healthchecks>
  readonly auto_preview: boolean
  readonly auto_deploy: boolean
  readonly arguments: readonly string[]
  readonly entrypoint?: string
  readonly icon_uri: string
  readonly ports: readonly PortSettings[]
  readonly storage: readonly StorageSettings[]
}

/** The settings of a new application. */
export function newSettings(body: ApplicationBody, tokenType: Provider | undefined, icon: string): ApplicationSettings {
  const empty = { ports: [], storage: [], git_repository: undefined, icon_uri: icon, auto_deploy: false }
  return changeSettings(
    { ...empty, dockerfile_path: null, docker_target_build_stage: null, cpu_architecture: null },
    body,
    tokenType,
  )
}

type Provider = ApplicationSettings['git_repository']['provider']
type Former = Partial<Omit<ApplicationSettings, 'git_repository'>> & {
  readonly git_repository: ApplicationSettings['git_repository'] | undefined
}

/**
 * The settings after a change: what the body leaves out stays, null clears. Ports and storages that were there already keep
 * their ids, also when the body does not name them: a volume is found again by its id.
 */
export function changeSettings(
  former: Former,
  body: ApplicationChange,
  tokenType: Provider | undefined,
): ApplicationSettings {
  const {
    name: _name,
    description: _description,
    annotations_groups: _a,
    labels_groups: _l,
    autoscaling: _k,
    ...rest
  } = body
  const { git_repository, ports, storage, icon_uri, auto_deploy, entrypoint, ephemeral_storage_in_gib, ...plain } = rest
  const given = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined))
  // Every member that ApplicationSettings requires is in `former` or has a default in the create schema.
  return {
    ...former,
    ...given,
    ...cleared('entrypoint', entrypoint, former.entrypoint),
    ...cleared('ephemeral_storage_in_gib', ephemeral_storage_in_gib, former.ephemeral_storage_in_gib),
    icon_uri: icon_uri ?? former.icon_uri,
    auto_deploy: auto_deploy === undefined ? (former.auto_deploy ?? false) : (auto_deploy ?? false),
    git_repository: git_repository
      ? repository(git_repository, former.git_repository, tokenType)
      : former.git_repository,
    ports: ports ? ports.map((port, index) => portSettings(port, index, ports, former.ports ?? [])) : former.ports,
    storage: storage?.map((volume) => storageSettings(volume, storage, former.storage ?? [])) ?? former.storage,
  } as ApplicationSettings
}

const cleared = (key: string, value: string | number | null | undefined, former: string | number | undefined) => {
  const next = value === undefined ? former : value
  return { [key]: next === null ? undefined : next }
}

function repository(
  body: NonNullable<ApplicationChange['git_repository']>,
  former: ApplicationSettings['git_repository'] | undefined,
  tokenType: Provider | undefined,
): ApplicationSettings['git_repository'] {
  const branch = body.branch ?? (former?.url === body.url ? former.branch : undefined)
  return {
    url: body.url,
    provider: body.provider ?? tokenType ?? inferProvider(body.url),
    root_path: body.root_path ?? former?.root_path ?? '/',
    git_token_id: body.git_token_id === undefined ? (former?.git_token_id ?? null) : body.git_token_id,
    ...(branch ? { branch } : {}),
  }
}

type PortBody = NonNullable<ApplicationChange['ports']>[number]

function portSettings(
  port: PortBody,
  index: number,
  all: readonly PortBody[],
  former: readonly PortSettings[],
): PortSettings {
  const kept = keptId(port, all, former, (one, other) => one.internal_port === other.internal_port)
  const firstPublic = all.findIndex((candidate) => candidate.publicly_accessible)
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
  }
}

/** 443 for what goes through the router, the same port for public TCP and UDP, none when private. */
function defaultExternal(port: PortBody): number | undefined {
  if (!port.publicly_accessible) return undefined
  return port.protocol === 'HTTP' || port.protocol === 'GRPC' ? 443 : port.internal_port
}

type StorageBody = NonNullable<ApplicationChange['storage']>[number]

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

/** The id that an entry of a list had before: the one that it names, else that of its former self, unless another entry names that. */
function keptId<B extends Identified, F extends B & { readonly id: string }>(
  entry: B,
  all: readonly B[],
  former: readonly F[],
  isSame: (one: B, other: B) => boolean,
): string | undefined {
  const named = former.find(({ id }) => id === entry.id)
  const self = former.find((candidate) => isSame(candidate, entry) && !all.some(({ id }) => id === candidate.id))
  return (named ?? self)?.id
}
