import type { GitHost } from './host.ts'

/** The longest list of repositories. */
const mostRepositories = 500

/** A repository of the built-in git host, with the address for git. */
export interface HostedRepository {
  readonly name: string
  readonly url: string
}

/**
 * Creates the list of an organization's repositories on the built-in git host, sorted by name.
 * `origin`: the public URL of the platform.
 */
export const createHostedList =
  (host: Pick<GitHost, 'names'>, origin: string) =>
  async (organizationId: string): Promise<readonly HostedRepository[]> => {
    const names = (await host.names(organizationId)).slice(0, mostRepositories)
    return names.map((name) => ({ name, url: `${origin}/git/${name}.git` }))
  }
