import type { AddressGuard } from '../lib/address.ts'
import { targetProblem } from '../lib/target.ts'
import { GitError } from './git.ts'
import { isRepositoryName } from './names.ts'

/** The place of a repository: a git server, or the git host of this process. */
export type RepositoryAddress =
  | { readonly at: 'server'; readonly url: URL }
  | { readonly at: 'home'; readonly name: string }

const refuse = (message: string): never => {
  throw new GitError('address', message)
}

/**
 * Parses the address of a repository without any network. `home`: the origins of the built-in git
 * host. Throws GitError('address'). The message never repeats the address, which may contain a
 * credential.
 */
export function parseRepositoryAddress(
  text: string,
  guard: AddressGuard,
  home: readonly string[] = [],
): RepositoryAddress {
  if (text === '' || text.length > 2048) refuse('The repository address must have 1 to 2,048 characters.')
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\<>"'`{}|^]|%(?:[01][0-9a-f]|7f)/i.test(text)) {
    refuse('The repository address contains spaces, control characters or other characters that no address has.')
  }
  if (!/^https?:\/\/[^/]/i.test(text)) refuse(schemeProblem(text))
  const url = URL.parse(text)
  if (!url) return refuse('The repository address is not a valid URL.')
  if (url.username !== '' || url.password !== '') {
    refuse(
      'The repository address must not contain a user name or a password. Store the token as a git token and ' +
        'choose it.',
    )
  }
  if (/[?#]/.test(text)) refuse('The repository address must not contain "?" or "#".')
  if (home.some((origin) => url.origin === new URL(origin).origin)) return { at: 'home', name: homeName(url) }
  if (/^\/*$/.test(url.pathname)) refuse('The repository address names a server but no repository.')
  const problem = targetProblem(guard, url)
  if (problem) refuse(problem)
  return { at: 'server', url }
}

function homeName(url: URL): string {
  const name = /^\/git\/([^/]+)\.git\/?$/.exec(url.pathname)?.[1]
  if (name !== undefined && isRepositoryName(name)) return name
  return refuse(`This server's own repositories are written ${url.origin}/git/<name>.git.`)
}

function schemeProblem(text: string): string {
  if (/^(?:ssh|git\+ssh):|^[^/:@]*@[^/]*:/i.test(text)) {
    return (
      'Repositories are read over https only, not ssh. Write the address as https://host/owner/name.git and ' +
      'use a git token.'
    )
  }
  if (/^[a-z0-9+.-]*::/i.test(text))
    return 'Transport helpers (name::address) are not allowed. Write the address as https://….'
  return 'The repository address must begin with https://.'
}
