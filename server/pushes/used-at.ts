import type { Sql } from '../database/index.ts'
import { hostedKey, repositoryKey } from '../git/index.ts'
import { listNaming, repositoriesOf } from '../services/index.ts'

/** Where something of an organization is: in environments of one mode of a project. */
export interface UsedAt {
  readonly projectId: string
  readonly mode: string
}

/** Where services use a repository of the built-in git host, whose origins `home` are; each place once. */
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
