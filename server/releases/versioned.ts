import { databaseTable } from '@quayside/contract/services/database.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { withoutEnd } from '../lib/trim.ts'
import type { Origin, Repository, SettingsOf } from '../services/index.ts'

/** Settings with the kind that tells what they are: of a service, or of one of its releases. */
export type Versioned = { readonly [K in KindName]: { readonly kind: K; readonly settings: SettingsOf[K] } }[KindName]

/** How the image of a service is made from a git repository. */
export interface Build {
  readonly repository: Repository
  readonly dockerfilePath: string
  readonly targetStage: string | null
  /** The text of a Dockerfile that stands in the settings, in place of one of the repository. */
  readonly dockerfileRaw: string | null
}

/** Undefined for what is not built here. */
export function buildOf(versioned: Versioned): Build | undefined {
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

/** Whether services of the kind always run an image that somebody else has built. */
export const isFetched = (kind: KindName): boolean => kind === 'container' || kind === 'database'

/**
 * Whether what services of the kind do while they are deployed is in no variable of others: jobs
 * have outputs, databases ports.
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
 * The image that a service is to run, as an engine asks for it; undefined for what is built, and
 * for what has none.
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
 * Host and path of a registry's address, as they stand before the name of an image. Docker Hub has
 * several addresses and one name.
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

/** Whether an image of a registry has a tag that a deployment may choose. */
export const hasTag = (versioned: Versioned): boolean => registryImageOf(versioned) !== undefined

/** Two versions must not have the files at the same time: the former one ends first. */
export const ownsItsFiles = ({ kind }: Versioned): boolean => kind === 'database'

/** Whether a port of this machine leads to it. */
export const isPublished = (versioned: Versioned): boolean =>
  versioned.kind === 'database' && versioned.settings.accessibility === 'PUBLIC'

/** The volumes of a service: where each is mounted, and the id under which an engine knows it. */
export function volumesOf(versioned: Versioned, serviceId: string): ReadonlyMap<string, string> {
  if (versioned.kind === 'database') return new Map([[dataPathOf(versioned.settings), serviceId]])
  if (versioned.kind !== 'application' && versioned.kind !== 'container') return new Map()
  return new Map(versioned.settings.storage.map(({ mount_point, id }) => [mount_point, id]))
}

/**
 * The program of a running replica that prints what its volume holds as an archive, consistent
 * while it goes on serving; undefined where there is none. PostgreSQL alone can do that by itself,
 * and only where its data are the whole volume.
 */
export function archiveCommandOf({ kind, settings }: Versioned): readonly string[] | undefined {
  if (kind !== 'database' || settings.type !== 'POSTGRESQL' || isNewLayout(settings)) return undefined
  const { login } = databaseTable[settings.type]
  const how = ['--pgdata=-', '--format=tar', '--wal-method=fetch', '--checkpoint=fast', '--no-password']
  return ['pg_basebackup', `--username=${login}`, ...how]
}

/** Since version 18 a directory for each version stands in the volume of PostgreSQL. */
const isNewLayout = ({ type, version }: SettingsOf['database']): boolean =>
  type === 'POSTGRESQL' && Number.parseInt(version, 10) >= 18

/** Where an engine keeps the data of a database, by the layout of its official image. */
export const dataPathOf = (settings: SettingsOf['database']): string =>
  isNewLayout(settings) ? '/var/lib/postgresql' : databaseTable[settings.type].volume
