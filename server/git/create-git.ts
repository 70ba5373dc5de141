import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AddressGuard } from '../lib/address.ts'
import type { Attempt } from '../lib/attempt.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import { readChangedPaths } from './changed-paths.ts'
import { type CheckoutSource, openCheckout } from './checkout.ts'
import { createFetchedCommits } from './fetched-commits.ts'
import { type Checkout, type Git, GitError, type TreeView } from './git.ts'
import { createGitProgram } from './git-program.ts'
import { readLog, readTreeOf } from './history.ts'
import { endLeftoverPrograms } from './leftover-programs.ts'
import { defaultGitLimits, type GitLimits } from './limits.ts'
import { type BuiltInHost, type Contact, locate, type OwnedRepository, type Place } from './locate.ts'
import { isCommitId } from './names.ts'
import { readDirectories, readHead, searchCommit } from './questions.ts'
import type { RemoteRepository } from './remote-repository.ts'
import { parseRepositoryAddress } from './repository-address.ts'
import { createScratch } from './scratch.ts'
import { readTags } from './tags.ts'
import { pathInTree } from './tree.ts'

export interface GitOptions {
  /**
   * Scratch directory of this driver alone. The first use empties it and kills programs that run in
   * it.
   */
  readonly directory: string
  readonly guard: AddressGuard
  readonly builtInHost?: BuiltInHost
  /**
   * Called on each contact with a repository of an organization. Timeouts and unreachable servers
   * are not contacts.
   */
  readonly contacted?: (contact: Contact) => Promise<void>
  readonly limits?: Partial<GitLimits>
  readonly clock?: Clock
}

type Rest<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never

export interface GitDriver extends Git {
  resolveHead(repository: OwnedRepository, signal: AbortSignal): ReturnType<Git['resolveHead']>
  resolveCommit(repository: OwnedRepository, commit: string, signal: AbortSignal): ReturnType<Git['resolveCommit']>
  listDirectories(repository: OwnedRepository, path: string, signal: AbortSignal): ReturnType<Git['listDirectories']>
  log(repository: OwnedRepository, ...rest: Rest<Git['log']>): ReturnType<Git['log']>
  changedPaths(repository: OwnedRepository, ...rest: Rest<Git['changedPaths']>): ReturnType<Git['changedPaths']>
  look<T>(repository: OwnedRepository, signal: AbortSignal, read: (tree: TreeView) => Promise<T>): Promise<T>
  checkout(repository: OwnedRepository, commit: string, attempt: Attempt): Promise<Checkout>
  /**
   * Removes what a killed process left in the directory. Runs automatically before the first use.
   */
  sweep(): Promise<void>
}

/**
 * Reads repositories of git servers over https, and those of the built-in git host directly from
 * the disk.
 */
export function createGit(options: GitOptions): GitDriver {
  const { guard, builtInHost } = options
  const server = createServerAccess(options)
  const { timeoutMs, sweep, sweepOnce } = server
  const find = async (repository: OwnedRepository, signal: AbortSignal): Promise<Place> => {
    await sweepOnce()
    const contacted = contactOf(repository, options)
    return locate(repository, { guard, builtInHost, timeoutMs, signal, ...(contacted && { contacted }) })
  }
  const obtain = createCheckoutSources(server)
  return {
    sweep,
    checkAddress: (url) => void parseRepositoryAddress(url, guard, builtInHost?.origins),
    async resolveHead(repository, signal) {
      return readHead(server, await find(repository, signal), { branch: repository.branch, signal })
    },
    async resolveCommit(repository, text, signal) {
      const commit = checkCommitId(text.toLowerCase())
      const place = await find(repository, signal)
      const head = await readHead(server, place, { branch: repository.branch, signal })
      return commit === head.commit ? commit : searchCommit(server, place, { head, commit, signal })
    },
    async listDirectories(repository, path, signal) {
      const directory = pathInTree(path)
      const place = await find(repository, signal)
      const head = await readHead(server, place, { branch: repository.branch, signal })
      return readDirectories(server, place, { head, directory, signal })
    },
    async log(repository, { count, from }, signal) {
      const start = from === undefined ? undefined : checkCommitId(from.toLowerCase())
      const place = await find(repository, signal)
      const head = await readHead(server, place, { branch: repository.branch, signal })
      return readLog(server, place, { head, count, from: start, signal })
    },
    async changedPaths(repository, commits, signal) {
      return readChangedPaths(server, await find(repository, signal), { ...commits, signal })
    },
    async look(repository, signal, read) {
      const place = await find(repository, signal)
      const head = await readHead(server, place, { branch: repository.branch, signal })
      return readTreeOf(server, place, { head, signal }, read)
    },
    async checkout(repository, text, attempt) {
      const commit = checkCommitId(text)
      if (!/^(?:.{40}|.{64})$/.test(commit)) throw new GitError('commit', 'A checkout needs the full commit id.')
      const source = await obtain(await find(repository, attempt.signal), commit, attempt)
      failpoint('git.cloned')
      try {
        return await openCheckout(source, attempt)
      } catch (thrown) {
        await source.release()
        throw thrown
      }
    },
  }
}

/**
 * Reports contacts with this repository. Undefined if nobody listens or the repository has no
 * organization.
 */
function contactOf({ organization, url, gitToken }: OwnedRepository, { contacted, clock = systemClock }: GitOptions) {
  if (!contacted || organization === undefined) return undefined
  const checkedAt = clock.now()
  const contact = { organizationId: organization, url, gitToken: gitToken ?? null, checkedAt }
  return (hasAccess: boolean) => contacted({ ...contact, hasAccess })
}

interface ServerAccess extends RemoteRepository {
  readonly timeoutMs: number
  sweep(): Promise<void>
  /**
   * The first call ends and removes what a killed process left behind. The next call retries if
   * that failed.
   */
  sweepOnce(): Promise<void>
}

function createServerAccess({ directory, limits: given, clock = systemClock }: GitOptions): ServerAccess {
  const limits = { ...defaultGitLimits, ...given }
  const home = join(directory, 'home')
  const scratch = createScratch(join(directory, 'scratch'))
  let swept: Promise<void> | undefined
  const sweep = async (): Promise<void> => {
    await mkdir(home, { recursive: true, mode: 0o700 })
    await scratch.sweep()
  }
  const tidy = async (): Promise<void> => {
    await endLeftoverPrograms(home)
    await sweep()
  }
  const sweepOnce = (): Promise<void> => {
    swept ??= tidy().catch((thrown: unknown) => {
      swept = undefined
      throw thrown
    })
    return swept
  }
  return { program: createGitProgram(home), scratch, limits, clock, timeoutMs: limits.questionMs, sweep, sweepOnce }
}

function createCheckoutSources(
  server: RemoteRepository,
): (place: Place, commit: string, attempt: Attempt) => Promise<CheckoutSource> {
  const { program, limits } = server
  const fetchCommit = createFetchedCommits(server)
  return async (place, commit, attempt) => {
    if (typeof place !== 'string') {
      const fetched = await fetchCommit(place, commit, attempt)
      return { program, limits, commit, ...fetched, tags: Promise.resolve(fetched.tags) }
    }
    const tags = readTags(server, place, attempt.signal)
    // The reader of the commit reports a failure, if it comes so far.
    tags.catch(() => {})
    return { program, limits, commit, tags, gitDirectory: place, release: async () => {} }
  }
}

function checkCommitId(text: string): string {
  if (isCommitId(text)) return text
  throw new GitError('commit', 'A commit id has 7 to 64 hexadecimal digits.')
}
