/** Limits of reading one repository. */
export interface GitLimits {
  /** Timeout of requests that a caller waits for: heads, commits, directories. */
  readonly questionMs: number
  /** Timeout of fetching one commit, and of reading it afterwards. */
  readonly checkoutMs: number
  /** Bytes on disk of one fetch. */
  readonly maxFetchBytes: number
  readonly maxArchiveBytes: number
  readonly maxFileBytes: number
  /** Number of files, links and directories of one commit. */
  readonly maxEntries: number
  /** Bytes of one path. File systems accept no longer ones. */
  readonly maxPathBytes: number
  /** Bytes of all paths of one commit together. A directory of a few bytes can occur many times. */
  readonly maxTreeBytes: number
}

export const defaultGitLimits: GitLimits = {
  questionMs: 15_000,
  checkoutMs: 10 * 60_000,
  maxFetchBytes: 1024 ** 3,
  maxArchiveBytes: 2 * 1024 ** 3,
  maxFileBytes: 1024 ** 2,
  maxEntries: 500_000,
  maxPathBytes: 4096,
  maxTreeBytes: 64 * 1024 ** 2,
}
