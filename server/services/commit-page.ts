import type { Repository } from './settings/repository.ts'

const publicHosts: Readonly<Record<string, Repository['provider']>> = {
  'github.com': 'GITHUB',
  'gitlab.com': 'GITLAB',
  'bitbucket.org': 'BITBUCKET',
}
const pathTo = { GITHUB: 'commit', GITLAB: '-/commit', BITBUCKET: 'commits' } as const

/**
 * Pure: returns the page of a commit at its provider. The provider of an unknown host comes from
 * the git token of the repository. Undefined without a token, and for the built-in git host, which
 * has no pages.
 */
export function commitPage(
  { url, provider, git_token_id }: Pick<Repository, 'url' | 'provider' | 'git_token_id'>,
  commit: string,
): string | undefined {
  const address = URL.parse(url)
  if (!address || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined
  const known = publicHosts[address.hostname] ?? (git_token_id === null ? undefined : provider)
  const path = address.pathname.replace(/\/$/, '').replace(/\.git$/, '')
  return known && `${address.origin}${path}/${pathTo[known]}/${commit}`
}
