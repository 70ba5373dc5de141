import type { Database } from '../database/index.ts'
import { GitError, type OwnedRepository } from '../git/index.ts'
import type { Secret } from '../lib/secret.ts'
import type { Repository } from '../services/index.ts'

/**
 * Returns the credentials for the host of a repository from a stored git token. Undefined if the
 * token is for another host.
 */
export type ReadGitCredential = (
  database: Database,
  organizationId: string,
  gitTokenId: string,
  url: string,
) => Promise<{ username: string; password: Secret; version: number } | undefined>

/** The git token of a service is for another origin than its repository. */
export class TokenPlaceError extends GitError {
  constructor(message: string) {
    super('address', message)
  }
}

/**
 * Returns the repository of a service, ready to be read. Throws TokenPlaceError if its git
 * token is for another origin: the token is not sent there, and a read without it would fail for
 * a reason that nobody sees.
 */
export async function repositoryOf(
  database: Database,
  readCredential: ReadGitCredential,
  organizationId: string,
  { url, branch, git_token_id }: Repository,
): Promise<OwnedRepository> {
  const credential = git_token_id ? await readCredential(database, organizationId, git_token_id, url) : undefined
  if (git_token_id && !credential) {
    throw new TokenPlaceError(
      `The git token of the service is for another host, scheme or port than the repository "${shown(url)}". ` +
        'Change the address of the repository, or choose a git token for it.',
    )
  }
  return {
    url,
    organization: organizationId,
    ...(branch ? { branch } : {}),
    ...(credential && git_token_id ? { credential, gitToken: { id: git_token_id, version: credential.version } } : {}),
  }
}

/** The address without a user name and a password that it may contain. */
function shown(address: string): string {
  const url = URL.parse(address)
  return url ? `${url.origin}${url.pathname}` : 'of the service'
}
