/** What can be told from a repository's address alone. */

type Provider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'

/** By the host's name; an unknown host counts as GITHUB. */
export function inferProvider(url: string): Provider {
  const host = URL.parse(url)?.hostname ?? ''
  if (host.includes('gitlab')) return 'GITLAB'
  if (host.includes('bitbucket')) return 'BITBUCKET'
  return 'GITHUB'
}

/** Owner and name by the path: the last segment without `.git` is the name, what stands before it the owner. */
export function ownerAndName(url: string): { owner: string; name: string } {
  const segments = (URL.parse(url)?.pathname ?? '').split('/').filter((segment) => segment !== '')
  const name = (segments.pop() ?? '').replace(/\.git$/, '')
  return { owner: segments.join('/') || name, name }
}
