import type { OwnedRepository } from '../../git/index.ts'
import { AppError } from '../../lib/error.ts'
import type { Rooms } from './rooms.ts'

interface Named {
  readonly url: string
  readonly branch?: string | null | undefined
  readonly git_token_id?: string | null | undefined
}

/**
 * Returns the repository that a request or a service names, ready to be read with the git token
 * that it names. Throws AppError if that token does not exist or is for another host. `field` is
 * the position of the repository in the request.
 */
export async function openRepository(
  rooms: Rooms,
  organizationId: string,
  { url, branch, git_token_id }: Named,
  field = '',
): Promise<OwnedRepository> {
  const credential = git_token_id
    ? await rooms.gitTokens.credential(rooms.database, organizationId, git_token_id, url)
    : undefined
  if (git_token_id && !credential) {
    throw new AppError('invalid', `${field}git_token_id: the token is for another host than url.`)
  }
  return {
    url,
    organization: organizationId,
    ...(branch ? { branch } : {}),
    ...(credential && git_token_id ? { credential, gitToken: { id: git_token_id, version: credential.version } } : {}),
  }
}
