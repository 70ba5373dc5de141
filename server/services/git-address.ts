/** What can be told from a repository's address alone. */

type Provider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'

/** By the host's name; an unknown host counts as GITHUB. */
export function inferProvider(url: string): Provider {
  const host = URL.parse(url)?.hostname ?? ''
  if (host.includes('gitlab')) return 'GITLAB'
  if (host.includes('bitbucket')) return 'BITBUCKET'
  return 'GITHUB'
}

const maxRemembered = 1000
const remembered = new Map<string, { readonly owner: string; readonly name: string }>()

/**
 * Owner and name by the path: the last segment without `.git` is the name, what stands before it
 * the owner. Remembered, for every answer about an application has them, and reading an address
 * costs as much as the rest of the answer.
 */
export function ownerAndName(url: string): { readonly owner: string; readonly name: string } {
  const known = remembered.get(url)
  if (known) return known
  const segments = (URL.parse(url)?.pathname ?? '').split('/').filter((segment) => segment !== '')
  const name = (segments.pop() ?? '').replace(/\.git$/, '')
  const found = { owner: segments.join('/') || name, name }
  if (remembered.size >= maxRemembered) remembered.clear()
  remembered.set(url, found)
  return found
}
