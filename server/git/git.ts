import type { Readable } from 'node:stream'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'

/**
 * Reads git repositories through the `git` program. Never checks files out, and never obeys
 * settings of a repository.
 */
export interface Git {
  /**
   * Checks the form of the address without any network. Throws GitError('address') with the reason.
   */
  checkAddress(url: string): void
  /**
   * Returns the head commit of a branch. Without a branch, that of main, master or the remote's
   * HEAD, with its name.
   */
  resolveHead(repository: Repository, signal: AbortSignal): Promise<{ branch: string; commit: string }>
  /**
   * Returns the full id of a full or abbreviated one. Throws GitError('commit') unless it is
   * reachable from the branch.
   */
  resolveCommit(repository: Repository, commit: string, signal: AbortSignal): Promise<string>
  /** Returns the names of the directories directly under `path`, sorted. */
  listDirectories(repository: Repository, path: string, signal: AbortSignal): Promise<string[]>
  /**
   * Returns the last `count` commits of the branch, newest first, starting with the commit `from`,
   * which may be abbreviated.
   */
  log(
    repository: Repository,
    question: { readonly count: number; readonly from?: string | undefined },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>
  /**
   * Returns the paths of files that differ between two commits, by their full ids. Undefined if
   * there are too many.
   */
  changedPaths(
    repository: Repository,
    commits: { readonly before: string; readonly after: string },
    signal: AbortSignal,
  ): Promise<string[] | undefined>
  /** Opens the branch's head while `read` runs. A server sends only the files that are read. */
  look<T>(repository: Repository, signal: AbortSignal, read: (tree: TreeView) => Promise<T>): Promise<T>
  /**
   * Fetches one commit into a private directory that `close` removes. Can be repeated, and is cheap
   * if the commit is already open.
   */
  checkout(repository: Repository, commit: string, attempt: Attempt): Promise<Checkout>
}

export interface Repository {
  readonly url: string
  readonly branch?: string
  readonly credential?: { readonly username: string; readonly password: Secret }
}

/** The files of one commit. */
export interface TreeView {
  /** The path of every file, without links and submodules. */
  readonly files: readonly string[]
  /** The same as in Checkout. */
  readFile(path: string): Promise<Buffer | undefined>
}

/** A fetched commit of a repository. */
export interface Checkout extends AsyncDisposable {
  readonly commit: CommitInfo
  /**
   * Returns the bytes of one file as committed, or undefined. Throws GitError('path') for links and
   * paths outside the tree.
   */
  readFile(path: string, signal: AbortSignal): Promise<Buffer | undefined>
  /**
   * Returns the tree under `path` as a tar stream, without `.git`. Rejects links out of the tree
   * with GitError('path').
   */
  archive(path: string, signal: AbortSignal): Promise<Readable>
}

/** Texts are truncated: the message to 1,000 characters, the author to 200. */
export interface CommitInfo {
  readonly id: string
  readonly createdAt: Date
  readonly message: string
  readonly authorName: string
  /**
   * Of several tags the highest version, else the last by name. Empty for a commit without a tag.
   */
  readonly tag: string
}

/** `message` says what happened and what to do. It never contains a credential. */
export class GitError extends Error {
  readonly reason: 'address' | 'unreachable' | 'denied' | 'branch' | 'commit' | 'path' | 'limits' | 'timeout'

  constructor(reason: GitError['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'GitError'
    this.reason = reason
  }
}
