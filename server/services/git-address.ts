/** Facts that follow from the address of a repository alone. */

type Provider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'

/** Returns the provider by host name; GITHUB for an unknown host. */
export function inferProvider(url: string): Provider {
  const host = URL.parse(url)?.hostname ?? ''
  if (host.includes('gitlab')) return 'GITLAB'
  if (host.includes('bitbucket')) return 'BITBUCKET'
  return 'GITHUB'
}

const maxRemembered = 1000
const remembered = new Map<string, { readonly owner: string; readonly name: string }>()

/**
 * Returns owner and name from the path: the last segment without `.git` is the name, everything
 * before it the owner. Cached, because every answer about an application needs them and parsing an
 * address costs as much as the rest of the answer.
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
