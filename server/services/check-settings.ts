import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { repositoriesOf, settingsBranchOf } from './kind-settings.ts'
import { holdOrigin } from './service-store.ts'
import { at, type Settings, type TokenTypes } from './settings/branch.ts'
import type { Provider, RepositoryBody } from './settings/repository.ts'
import type { Ceiling } from './settings/rules.ts'

export interface CheckOptions {
  /** Returns the capacity of a cluster by the name of its engine; null if it has none. */
  readonly ceilingOf: (engine: string | null) => Ceiling
  /** Throws with the reason if the address can never be a repository's. */
  readonly checkRepositoryAddress: (url: string) => void
  /**
   * Returns the provider of the organization's git token. Throws 404 if the organization has no
   * token of that id, 400 if the token is for another host.
   */
  readonly gitTokenType: (sql: Sql, organizationId: string, id: string, url: string) => Promise<Provider>
}

interface Asked {
  readonly kind: KindName
  readonly organizationId: string
  readonly body: object
  readonly former?: Settings
}

/**
 * Returns the providers of the git tokens that a body names or leaves unchanged. Throws 404 or 400
 * that names the field.
 */
export async function readTokenTypes(sql: Sql, options: CheckOptions, asked: Asked): Promise<TokenTypes> {
  const found = new Map<string, Provider>()
  for (const path of settingsBranchOf(asked.kind).repositories) {
    // The operation's schema has checked the type of this member.
    const repository = at(asked.body, path) as RepositoryBody | null | undefined
    if (!repository) continue
    const former = at(asked.former, `${path}.git_token_id`)
    const { git_token_id: id = typeof former === 'string' ? former : null, url } = repository
    if (!id) continue
    const type = await options.gitTokenType(sql, asked.organizationId, id, url).catch(under(path))
    found.set(path, type)
  }
  return (path) => found.get(path)
}

/** The room of git tokens names the field `git_repository`; here it may be nested deeper. */
const under =
  (path: string) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || path === 'git_repository') throw error
    throw new AppError(error.code, error.message.replace(/^git_repository\b/, path), { cause: error })
  }

/** The cluster of a service, as rows of services and environments have it. */
interface Place {
  readonly cluster_engine: string | null
}

/** Throws the first error in settings of this kind for a cluster, with its field. */
export function checkSettings(kind: KindName, settings: Settings, place: Place, options: CheckOptions): void {
  for (const { path, repository } of repositoriesOf(kind, settings)) {
    try {
      options.checkRepositoryAddress(repository.url)
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error)
      throw new AppError('invalid', `${path}.url: ${sentence}`, { cause: error })
    }
  }
  settingsBranchOf(kind).check(settings as never, options.ceilingOf(place.cluster_engine))
}

const originNouns = { container_registry: 'container registry', helm_repository: 'Helm repository' } as const

/** Throws 404 for a registry or Helm repository that the organization does not have. */
export async function checkOrigins(
  sql: Sql,
  { kind, organizationId, settings }: { kind: KindName; organizationId: string; settings: Settings },
): Promise<void> {
  for (const { table, path } of settingsBranchOf(kind).origins) {
    const id = at(settings, path)
    if (typeof id !== 'string') continue
    if (!(await holdOrigin(sql, { table, id, organizationId }))) {
      throw notFound(originNouns[table], id, { field: path })
    }
  }
}

/** Returns the git token of all repositories of the settings: a service uses at most one. */
export function gitTokenOf(kind: KindName, settings: Settings): string | null {
  const used = repositoriesOf(kind, settings).filter(({ repository }) => repository.git_token_id !== null)
  const first = used[0]?.repository.git_token_id ?? null
  const other = used.find(({ repository }) => repository.git_token_id !== first)
  if (other) throw new AppError('invalid', `${other.path}.git_token_id must be that of ${used[0]?.path}.`)
  return first
}
