import { existsSync } from 'node:fs'
import { AddressError, type AddressGuard } from '../lib/address.ts'
import { startDeadline } from '../lib/deadline.ts'
import { checkTarget } from '../lib/target.ts'
import type { Remote } from './environment.ts'
import { GitError, type Repository } from './git.ts'
import { isBranchName } from './names.ts'
import { parseRepositoryAddress } from './repository-address.ts'

/**
 * A repository with its organization, because names of the built-in git host are only unique within
 * one.
 */
export type OwnedRepository = Repository & {
  readonly organization?: string
  /** The stored git token of the credential, and the version of its credential. */
  readonly gitToken?: { readonly id: string; readonly version: number }
}

/** One contact with a repository: the server or the built-in git host showed it, or did not. */
export interface Contact {
  readonly organizationId: string
  readonly url: string
  readonly gitToken: { readonly id: string; readonly version: number } | null
  readonly hasAccess: boolean
  readonly checkedAt: Date
}

/** A bare repository on this disk, or a checked server. */
export type Place = string | Remote

export interface BuiltInHost {
  /**
   * Origins of `<public URL>/git/<name>.git`: the current one, and previous ones in stored
   * addresses.
   */
  readonly origins: readonly string[]
  /** Returns the bare repository with that name. Undefined if the organization has none. */
  repositoryPath(name: string, organization: string | undefined): string | undefined
}

/**
 * Resolves a repository to a place that git can read, with every check. Throws GitError, or the
 * signal's reason.
 */
export async function locate(
  repository: OwnedRepository,
  options: {
    readonly guard: AddressGuard
    readonly builtInHost?: BuiltInHost | undefined
    readonly contacted?: Remote['contacted']
    readonly timeoutMs: number
    readonly signal: AbortSignal
  },
): Promise<Place> {
  const { guard, builtInHost, contacted } = options
  const address = parseRepositoryAddress(repository.url, guard, builtInHost?.origins)
  if (repository.branch !== undefined && !isBranchName(repository.branch)) {
    throw new GitError(
      'branch',
      'The name of the branch has characters that are not allowed. Use letters, digits and . _ / + @ # -.',
    )
  }
  if (address.at === 'home') {
    const path = builtInHost?.repositoryPath(address.name, repository.organization)
    const exists = path !== undefined && existsSync(path)
    await contacted?.(exists)
    if (exists) return path
    throw new GitError('denied', `The repository "${address.name}" does not exist here. Push it first.`)
  }
  const credential = checkCredential(repository.credential)
  const addresses = await checkedAddresses(guard, address.url, options)
  return { url: address.url, addresses, ...(credential ? { credential } : {}), ...(contacted ? { contacted } : {}) }
}

function checkCredential(credential: Repository['credential']): Repository['credential'] {
  if (!credential) return undefined
  const password = credential.password.reveal()
  const isGood =
    !/[\p{Cc}:]/u.test(credential.username) && password !== '' && password.length <= 4096 && !/\p{Cc}/u.test(password)
  if (isGood) return credential
  throw new GitError('denied', 'The git token is empty, too long or has characters that no token has. Store it again.')
}

async function checkedAddresses(
  guard: AddressGuard,
  url: URL,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const deadline = startDeadline(timeoutMs, signal)
  try {
    return await checkTarget(guard, url, deadline)
  } catch (thrown) {
    signal.throwIfAborted()
    if (deadline.isOver) {
      throw new GitError(
        'timeout',
        `The name "${url.hostname}" was not found within ${timeoutMs / 1000} s. Try again later.`,
      )
    }
    if (!(thrown instanceof AddressError)) throw thrown
    throw new GitError(thrown.reason === 'refused' ? 'address' : 'unreachable', thrown.message, { cause: thrown })
  }
}
