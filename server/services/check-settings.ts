import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { repositoriesOf, settingsBranchOf } from './kind-settings.ts'
import { holdOrigin } from './service-store.ts'
import { at, type Settings, type TokenTypes } from './settings/branch.ts'
import type { Provider, RepositoryBody } from './settings/repository.ts'
import type { Ceiling } from './settings/rules.ts'

export interface CheckOptions {
  readonly ceiling: Ceiling
  /** Throws with a sentence when the address may never be a repository's. */
  readonly checkRepositoryAddress: (url: string) => void
  /**
   * The provider of the organization's git token; throws 404 when it has none of that id, 400 when
   * it is for another host.
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
 * The providers of the git tokens that a body names, or that stay; throws 404 or 400 that names the
 * field.
 */
export async function readTokenTypes(sql: Sql, options: CheckOptions, asked: Asked): Promise<TokenTypes> {
  const found = new Map<string, Provider>()
  for (const path of settingsBranchOf(asked.kind).repositories) {
    // The operation's schema has checked what stands there.
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

/** The room of git tokens speaks of `git_repository`; here it may stand deeper. */
const under =
  (path: string) =>
  (error: unknown): never => {
    if (!(error instanceof AppError) || path === 'git_repository') throw error
    throw new AppError(error.code, error.message.replace(/^git_repository\b/, path), { cause: error })
  }

/** Throws the first thing that is wrong with settings of this kind, with its field. */
export function checkSettings(kind: KindName, settings: Settings, options: CheckOptions): void {
  for (const { path, repository } of repositoriesOf(kind, settings)) {
    try {
      options.checkRepositoryAddress(repository.url)
    } catch (error) {
      const sentence = error instanceof Error ? error.message : String(error)
      throw new AppError('invalid', `${path}.url: ${sentence}`, { cause: error })
    }
  }
  settingsBranchOf(kind).check(settings as never, options.ceiling)
}

/** Throws 404 for a registry or Helm repository that the organization does not have. */
export async function checkOrigins(
  sql: Sql,
  { kind, organizationId, settings }: { kind: KindName; organizationId: string; settings: Settings },
): Promise<void> {
  for (const { table, path } of settingsBranchOf(kind).origins) {
    const id = at(settings, path)
    if (typeof id !== 'string') continue
    if (!(await holdOrigin(sql, { table, id, organizationId }))) {
      throw new AppError('notFound', `${path}: there is no such object.`)
    }
  }
}

/** The git token of all repositories of the settings: a service uses one. */
export function gitTokenOf(kind: KindName, settings: Settings): string | null {
  const used = repositoriesOf(kind, settings).filter(({ repository }) => repository.git_token_id !== null)
  const first = used[0]?.repository.git_token_id ?? null
  const other = used.find(({ repository }) => repository.git_token_id !== first)
  if (other) throw new AppError('invalid', `${other.path}.git_token_id must be that of ${used[0]?.path}.`)
  return first
}
