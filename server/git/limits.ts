/** What one repository may cost. */
export interface GitLimits {
  /** For questions that a caller waits for: heads, commits, directories. */
  readonly questionMs: number
  /** For fetching one commit, and for reading it afterwards. */
  readonly checkoutMs: number
  /** Bytes on disk of one fetch. */
  readonly maxFetchBytes: number
  readonly maxArchiveBytes: number
  readonly maxFileBytes: number
  /** Files, links and directories of one commit. */
  readonly maxEntries: number
  /** Bytes of one path: file systems take no longer ones. */
  readonly maxPathBytes: number
  /** Bytes of all paths of one commit together: directories of a few bytes can be in it many times. */
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
