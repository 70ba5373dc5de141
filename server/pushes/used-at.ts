import type { Sql } from '../database/index.ts'
import { hostedKey, repositoryKey } from '../git/index.ts'
import { listNaming, repositoriesOf } from '../services/index.ts'

/** The use of an object of an organization: environments of one mode of a project. */
export interface UsedAt {
  readonly projectId: string
  readonly mode: string
}

/** A repository of the built-in git host and the places that use it. */
export interface HostedRepositoryUse {
  readonly name: string
  readonly usedAt: readonly UsedAt[]
}

/**
 * Returns the hosted repository that an address names, or undefined for an address of another git
 * server.
 */
export async function hostedRepositoryUse(
  options: { readonly database: Sql; readonly home: readonly string[] },
  organizationId: string,
  address: string,
): Promise<HostedRepositoryUse | undefined> {
  const key = repositoryKey(address, options.home)
  if (!key?.startsWith(hostedKey(''))) return undefined
  const name = key.slice(hostedKey('').length)
  return { name, usedAt: await placesOfRepository(options, organizationId, name) }
}

/**
 * Lists where services use a repository of the built-in git host, each place once. `home`: the
 * origins of the host.
 */
export async function placesOfRepository(
  { database, home }: { readonly database: Sql; readonly home: readonly string[] },
  organizationId: string,
  repository: string,
): Promise<UsedAt[]> {
  const key = hostedKey(repository)
  const services = await listNaming(database, organizationId, `${key}.git`)
  const users = services.filter(({ kind, settings }) =>
    repositoriesOf(kind, settings).some((one) => repositoryKey(one.repository.url, home) === key),
  )
  const places = users.map(({ project_id: projectId, environment_mode: mode }) => ({ projectId, mode }))
  return [...new Map(places.map((place) => [`${place.projectId} ${place.mode}`, place])).values()]
}
