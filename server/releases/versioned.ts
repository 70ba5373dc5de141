import { databaseTable } from '@quayside/contract/services/database.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { withoutEnd } from '../lib/trim.ts'
import type { Origin, Repository, SettingsOf } from '../services/index.ts'

/** Settings with the kind that determines their type: of a service or of one of its releases. */
export type Versioned = { readonly [K in KindName]: { readonly kind: K; readonly settings: SettingsOf[K] } }[KindName]

/** How the image of a service is built from a git repository. */
export interface Build {
  readonly repository: Repository
  readonly dockerfilePath: string
  readonly targetStage: string | null
  /** The text of a Dockerfile in the settings, instead of one in the repository. */
  readonly dockerfileRaw: string | null
  /** For a stack, whose sources are put into the image of its engine. */
  readonly stack?: Pick<SettingsOf['terraform'], 'engine' | 'provider_version' | 'dockerfile_fragment'>
}

/** Returns the build of a service; undefined if it is not built here. */
export function buildOf(versioned: Versioned): Build | undefined {
  if (versioned.kind === 'terraform') return stackBuild(versioned.settings)
  const source = sourceOf(versioned)
  if (!source) return undefined
  const { git_repository, dockerfile_path, docker_target_build_stage, dockerfile_raw = null } = source
  return {
    repository: git_repository,
    dockerfilePath: dockerfile_raw === null ? (dockerfile_path ?? 'Dockerfile') : '.quayside.Dockerfile',
    targetStage: docker_target_build_stage,
    dockerfileRaw: dockerfile_raw,
  }
}

/** The whole repository is in the image, because a root module may use modules beside it. */
function stackBuild(settings: SettingsOf['terraform']): Build {
  const { engine, provider_version, dockerfile_fragment, terraform_files_source: source } = settings
  return {
    repository: { ...source.git_repository, root_path: '/' },
    dockerfilePath: '.quayside.Dockerfile',
    targetStage: null,
    dockerfileRaw: '',
    stack: { engine, provider_version, dockerfile_fragment },
  }
}

/** Returns the repository whose commit a version names: of its build, or of its chart. */
export function pinnedRepositoryOf(versioned: Versioned): Repository | undefined {
  if (versioned.kind !== 'helm') return buildOf(versioned)?.repository
  const { source } = versioned.settings
  return 'git_repository' in source ? source.git_repository : undefined
}

/** Returns the repository with the values of a chart. Undefined if it has none. */
export const valuesRepositoryOf = (versioned: Versioned): Repository | undefined =>
  versioned.kind === 'helm' ? versioned.settings.values_override.file?.git?.git_repository : undefined

/** Returns the version of a chart of a Helm repository that the settings name. */
export function chartVersionOf(versioned: Versioned): string | undefined {
  const source = versioned.kind === 'helm' ? versioned.settings.source : undefined
  return source && 'helm_repository' in source ? source.helm_repository.chart_version : undefined
}

/** Whether services of the kind always run an image from a registry. */
export const isFetched = (kind: KindName): boolean => kind === 'container' || kind === 'database'

/**
 * Whether a deployment of the kind changes no variables of other services. Jobs have outputs, and
 * databases have ports.
 */
export const leavesVariablesAlone = (kind: KindName): boolean => kind === 'application' || kind === 'container'

interface DockerSource {
  readonly git_repository: Repository
  readonly dockerfile_path: string | null
  readonly docker_target_build_stage: string | null
  readonly dockerfile_raw?: string | null
}

function sourceOf({ kind, settings }: Versioned): DockerSource | undefined {
  if (kind === 'application') return settings
  return kind === 'job' && 'docker' in settings.source ? settings.source.docker : undefined
}

/**
 * Returns the image that a service runs, as an engine pulls it. Undefined if it is built here or
 * has no image.
 */
export function imageOf(versioned: Versioned, origin: Origin | null): string | undefined {
  if (versioned.kind === 'database') {
    const { type, version } = versioned.settings
    return `docker.io/library/${databaseTable[type].image}:${version}`
  }
  const image = registryImageOf(versioned)
  if (!image) return undefined
  const { image_name, tag } = image
  return `${registryHost(origin?.url ?? '')}/${image_name}:${tag}`
}

/**
 * Returns host and path of a registry as they precede the name of an image. Docker Hub has several
 * addresses and one name.
 */
export const registryHost = (url: string): string =>
  withoutEnd(
    url
      .replace(/^[a-z]+:\/\//i, '')
      .replace(/^(?:index\.|registry-1\.)?docker\.io(?:\/v[12])?(?=\/|$)|^hub\.docker\.com(?=\/|$)/, 'docker.io'),
    '/',
  )

function registryImageOf({ kind, settings }: Versioned): { image_name: string; tag: string } | undefined {
  if (kind === 'container') return settings
  return kind === 'job' && 'image' in settings.source ? settings.source.image : undefined
}

/** Whether the image is from a registry, so that a deployment may choose its tag. */
export const hasTag = (versioned: Versioned): boolean => registryImageOf(versioned) !== undefined

/** Whether two versions must not share the files, so that the previous one stops first. */
export const ownsItsFiles = ({ kind }: Versioned): boolean => kind === 'database'

/** Whether the service is published on a port of this machine. */
export const isPublished = (versioned: Versioned): boolean =>
  versioned.kind === 'database' && versioned.settings.accessibility === 'PUBLIC'

/** A volume of a service on its engine. */
export interface ServiceVolume {
  readonly id: string
  readonly sizeGiB: number
}

/** Returns the volumes of a service by their mount points. */
export function volumesOf(versioned: Versioned, serviceId: string): ReadonlyMap<string, ServiceVolume> {
  if (versioned.kind === 'database') {
    const { settings } = versioned
    return new Map([[dataPathOf(settings), { id: serviceId, sizeGiB: settings.storage }]])
  }
  if (versioned.kind !== 'application' && versioned.kind !== 'container') return new Map()
  return new Map(versioned.settings.storage.map(({ mount_point, id, size }) => [mount_point, { id, sizeGiB: size }]))
}

/**
 * Returns the command that prints a consistent archive of the volume of a running replica.
 * Undefined if there is none. Only PostgreSQL can do that, and only if its data are the whole
 * volume.
 */
export function archiveCommandOf({ kind, settings }: Versioned): readonly string[] | undefined {
  if (kind !== 'database' || settings.type !== 'POSTGRESQL' || isNewLayout(settings)) return undefined
  const { login } = databaseTable[settings.type]
  const how = ['--pgdata=-', '--format=tar', '--wal-method=fetch', '--checkpoint=fast', '--no-password']
  return ['pg_basebackup', `--username=${login}`, ...how]
}

/** Whether the volume of PostgreSQL has a directory for each version, as it does since 18. */
const isNewLayout = ({ type, version }: SettingsOf['database']): boolean =>
  type === 'POSTGRESQL' && Number.parseInt(version, 10) >= 18

/** Returns where the official image of a database keeps its data. */
export const dataPathOf = (settings: SettingsOf['database']): string =>
  isNewLayout(settings) ? '/var/lib/postgresql' : databaseTable[settings.type].volume
