/**
 * `missing`: there is no such file · `damaged`: it is not as it was written, or what was to be written is no whole archive ·
 * `other-key`: it is in order, and was written with another key.
 */
export type ArchiveFailure = 'missing' | 'damaged' | 'other-key'

/** Why a file gives no archive. `message` says what happened and what to do; it names the file without its directory. */
export class ArchiveError extends Error {
  readonly reason: ArchiveFailure

  constructor(reason: ArchiveFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ArchiveError'
    this.reason = reason
  }
}
