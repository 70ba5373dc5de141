import type { Database } from '../database/index.ts'
import type { OwnedRepository } from '../git/index.ts'
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

/** Returns the repository of a service, ready to be read. */
export async function repositoryOf(
  database: Database,
  readCredential: ReadGitCredential,
  organizationId: string,
  { url, branch, git_token_id }: Repository,
): Promise<OwnedRepository> {
  const credential = git_token_id ? await readCredential(database, organizationId, git_token_id, url) : undefined
  return {
    url,
    organization: organizationId,
    ...(branch ? { branch } : {}),
    ...(credential && git_token_id ? { credential, gitToken: { id: git_token_id, version: credential.version } } : {}),
  }
}
