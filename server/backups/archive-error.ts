/**
 * `missing`: the file does not exist · `damaged`: the file was changed, or the archive to be
 * written is incomplete · `other-key`: the file is intact but was written with another key.
 */
export type ArchiveFailure = 'missing' | 'damaged' | 'other-key'

/**
 * Why a file cannot be read as an archive. `message` says what happened and what to do; it names
 * the file without its directory.
 */
export class ArchiveError extends Error {
  readonly reason: ArchiveFailure

  constructor(reason: ArchiveFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ArchiveError'
    this.reason = reason
  }
}
