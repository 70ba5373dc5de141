import type { Readable } from 'node:stream'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'

/** Reads git repositories, through the `git` program. Never checks files out; never follows what a repository says. */
export interface Git {
  /** The form of the address, without any network: throws GitError('address') with a sentence that says what is wrong. */
  checkAddress(url: string): void
  /** The commit that a branch points at; without a branch, that of main, master or the remote's HEAD, with its name. */
  resolveHead(repository: Repository, signal: AbortSignal): Promise<{ branch: string; commit: string }>
  /** A full commit id for a full or abbreviated one; throws GitError('commit') unless it is reachable from the branch. */
  resolveCommit(repository: Repository, commit: string, signal: AbortSignal): Promise<string>
  /** Names of the directories directly under `path`, sorted. */
  listDirectories(repository: Repository, path: string, signal: AbortSignal): Promise<string[]>
  /** The last `count` commits of the branch, newest first; from the commit `from` on, which may be abbreviated. */
  log(
    repository: Repository,
    question: { readonly count: number; readonly from?: string | undefined },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>
  /** Paths of the files that differ between two commits, by their full ids; undefined where they are too many to be told. */
  changedPaths(
    repository: Repository,
    commits: { readonly before: string; readonly after: string },
    signal: AbortSignal,
  ): Promise<string[] | undefined>
  /** Looks into the branch's head for as long as `read` takes; of a server, only the files that are read are sent. */
  look<T>(repository: Repository, signal: AbortSignal, read: (tree: TreeView) => Promise<T>): Promise<T>
  /** Fetches one commit into a private directory that `close` removes; repeatable, and cheap when it is there already. */
  checkout(repository: Repository, commit: string, attempt: Attempt): Promise<Checkout>
}

export interface Repository {
  readonly url: string
  readonly branch?: string
  readonly credential?: { readonly username: string; readonly password: Secret }
}

/** The files of one commit. */
export interface TreeView {
  /** Paths of every file, without links and submodules. */
  readonly files: readonly string[]
  /** As that of a Checkout. */
  readFile(path: string): Promise<Buffer | undefined>
}

/** One commit of a repository, fetched. */
export interface Checkout extends AsyncDisposable {
  readonly commit: CommitInfo
  /** Bytes of one file as committed; undefined where there is none. Throws GitError('path') for links and paths that leave the tree. */
  readFile(path: string, signal: AbortSignal): Promise<Buffer | undefined>
  /** The tree under `path` as a tar stream, without `.git`, links that leave it refused with GitError('path'). */
  archive(path: string, signal: AbortSignal): Promise<Readable>
}

/** Texts are cut: message to 1,000 characters, author to 200. */
export interface CommitInfo {
  readonly id: string
  readonly createdAt: Date
  readonly message: string
  readonly authorName: string
  /** Of several the highest version, else the last by name; empty for a commit without a tag. */
  readonly tag: string
}

/** `message` says what happened and what to do; it never holds a credential. */
export class GitError extends Error {
  readonly reason: 'address' | 'unreachable' | 'denied' | 'branch' | 'commit' | 'path' | 'limits' | 'timeout'

  constructor(reason: GitError['reason'], message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'GitError'
    this.reason = reason
  }
}
