/** Size limits of repositories of the built-in git host. */
export interface HostLimits {
  /** Bytes on disk of one repository, and of all repositories of an organization. */
  readonly repositoryBytes: number
  readonly organizationBytes: number
  /** Number of repositories of an organization. */
  readonly repositories: number
  /** Number of branches, tags and other references of one repository. */
  readonly refs: number
  /** Bytes of one push. */
  readonly pushBytes: number
  /** Bytes of the list of references that one push changes. */
  readonly commandBytes: number
}

export const defaultHostLimits: HostLimits = {
  repositoryBytes: 4 * 1024 ** 3,
  organizationBytes: 20 * 1024 ** 3,
  repositories: 1000,
  refs: 10_000,
  pushBytes: 1024 ** 3,
  commandBytes: 1024 ** 2,
}

/** A rejected push. `message` is for the user of the git client. */
export class PushRefused extends Error {
  override readonly name = 'PushRefused'
}
