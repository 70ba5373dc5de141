import type { Static } from '@quayside/contract'
import type { GitRepositoryRequest } from '@quayside/contract/resources/git-token.ts'
import { inferProvider, ownerAndName } from '../git-address.ts'
import { hasAccess, type RepositoryFact } from './access.ts'
import { checkRelativePath, refuse } from './rules.ts'

export type Provider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'
export type RepositoryBody = Static<typeof GitRepositoryRequest>

/** A git repository in the settings of a service. */
export interface Repository {
  readonly url: string
  readonly provider: Provider
  /** Absent: the repository's main or master. */
  readonly branch?: string
  readonly root_path: string
  readonly git_token_id: string | null
}

/**
 * Returns a repository's settings. The provider is the one sent, otherwise that of the git token,
 * otherwise derived from the address.
 */
export function repositoryOf(
  body: RepositoryBody,
  former: Repository | undefined,
  tokenType: Provider | undefined,
): Repository {
  const branch = body.branch ?? (former?.url === body.url ? former.branch : undefined)
  return {
    url: body.url,
    provider: body.provider ?? tokenType ?? inferProvider(body.url),
    root_path: body.root_path ?? former?.root_path ?? '/',
    git_token_id: body.git_token_id === undefined ? (former?.git_token_id ?? null) : body.git_token_id,
    ...(branch ? { branch } : {}),
  }
}

const branchForm = /^[A-Za-z0-9][A-Za-z0-9._/+@#-]{0,243}$/
const branchTraps = /\.\.|@\{|\/\/|\.lock(?:\/|$)|\/$|\/\.|\.$/

/**
 * Checks a repository whose path in the settings is `field`. The caller checks the address, because
 * it knows which addresses may be contacted.
 */
export function checkRepository(field: string, { branch, root_path }: Repository): void {
  if (branch !== undefined && (!branchForm.test(branch) || branchTraps.test(branch))) {
    refuse(`${field}.branch`, 'is not the name of a branch')
  }
  checkRelativePath(`${field}.root_path`, root_path.replace(/^\/+/, ''), true)
}

/** The running commit, as a record shows it. */
export interface Deployed {
  readonly id: string
  readonly created_at: string
  readonly author_name: string
  readonly branch: string
  readonly tag?: string
}

/** Stored facts that the record of a repository shows besides its settings. */
export interface RepositoryRecordFacts {
  readonly commit: Deployed | null
  readonly tokenName: string | null
  /** The stored contacts with the repositories of the service. */
  readonly repositoryFacts: readonly RepositoryFact[]
  /** Returns whether an address is on the built-in git host. */
  readonly isHome: (url: string) => boolean
}

/** Returns the repository as the API answers it. */
export function repositoryRecord(
  repository: Repository,
  { commit, tokenName, repositoryFacts, isHome }: RepositoryRecordFacts,
) {
  return {
    ...repository,
    ...ownerAndName(repository.url),
    branch: repository.branch ?? commit?.branch ?? 'main',
    has_access: hasAccess(repository, repositoryFacts, isHome),
    deployed_commit_id: commit?.id ?? '',
    deployed_commit_date: commit ? new Date(commit.created_at) : null,
    deployed_commit_contributor: commit?.author_name ?? '',
    deployed_commit_tag: commit?.tag ?? '',
    git_token_name: repository.git_token_id === null ? null : tokenName,
  }
}
