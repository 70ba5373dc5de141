import { useQuery } from '@tanstack/react-query'
import { api } from './client.ts'

/** Usual values of a field, which a registry or a provider knows. */
export interface Suggestion {
  readonly key: readonly string[]
  ask(): Promise<readonly string[]>
}

/** The values of a suggestion. A provider that does not answer suggests nothing. */
export function useSuggestions(asked: Suggestion | undefined): readonly string[] {
  const { data = [] } = useQuery({
    queryKey: ['suggestions', ...(asked?.key ?? [])],
    queryFn: async () => (await asked?.ask()) ?? [],
    enabled: asked !== undefined,
    staleTime: 60_000,
    retry: false,
  })
  return data
}

/** The images of a registry whose names contain a text. */
export const images = (organizationId: string, containerRegistryId: string, search: string): Suggestion => ({
  key: ['images', containerRegistryId, search],
  ask: async () => {
    const query = search === '' ? {} : { search }
    const { results } = await api.getContainerVersions({ organizationId, containerRegistryId, query })
    return results.map(({ image_name: name }) => name)
  },
})

/** The tags of an image. */
export const tags = (organizationId: string, containerRegistryId: string, imageName: string): Suggestion => ({
  key: ['tags', containerRegistryId, imageName],
  ask: async () => {
    const { results } = await api.getContainerVersions({ organizationId, containerRegistryId, query: { imageName } })
    return results.flatMap(({ versions }) => versions)
  },
})

/** The charts of a Helm repository. */
export const charts = (organizationId: string, helmRepositoryId: string): Suggestion => ({
  key: ['charts', helmRepositoryId],
  ask: async () => {
    const { results } = await api.getHelmCharts({ organizationId, helmRepositoryId })
    return results.map(({ chart_name: name }) => name)
  },
})

/** The versions of a chart, newest first. */
export const chartVersions = (organizationId: string, helmRepositoryId: string, chartName: string): Suggestion => ({
  key: ['versions of a chart', helmRepositoryId, chartName],
  ask: async () => {
    const { results } = await api.getHelmCharts({ organizationId, helmRepositoryId, query: { chartName } })
    return results.flatMap(({ versions }) => versions)
  },
})

/** A stored git token, and the provider that it belongs to. */
export interface GitToken {
  readonly id: string
  readonly type: 'GITHUB' | 'GITLAB' | 'BITBUCKET'
}
interface Listing {
  repositories(organizationId: string, gitTokenId: string): Promise<{ readonly results: readonly { url: string }[] }>
  branches(input: {
    organizationId: string
    query: { name: string; gitTokenId: string }
  }): Promise<{ readonly results: readonly { name: string }[] }>
}

const providers: Readonly<Record<GitToken['type'], Listing>> = {
  GITHUB: {
    repositories: (organizationId, gitTokenId) =>
      api.getOrganizationGithubRepositories({ organizationId, query: { gitTokenId } }),
    branches: (input) => api.getOrganizationGithubRepositoryBranches(input),
  },
  GITLAB: {
    repositories: (organizationId, gitTokenId) =>
      api.getOrganizationGitlabRepositories({ organizationId, query: { gitTokenId } }),
    branches: (input) => api.getOrganizationGitlabRepositoryBranches(input),
  },
  BITBUCKET: {
    repositories: (organizationId, gitTokenId) =>
      api.getOrganizationBitbucketRepositories({ organizationId, query: { gitTokenId } }),
    branches: (input) => api.getOrganizationBitbucketRepositoryBranches(input),
  },
}

/** The repositories that a git token can read. */
export const gitRepositories = (organizationId: string, { id, type }: GitToken): Suggestion => ({
  key: ['repositories', id],
  ask: async () => (await providers[type].repositories(organizationId, id)).results.map(({ url }) => url),
})

/** The branches of a repository that a git token can read. `name` is its owner and name. */
export const gitBranches = (organizationId: string, { id, type }: GitToken, name: string): Suggestion => ({
  key: ['branches', id, name],
  ask: async () => {
    const { results } = await providers[type].branches({ organizationId, query: { name, gitTokenId: id } })
    return results.map((branch) => branch.name)
  },
})

interface Repository {
  readonly url: string
  readonly branch: string
  readonly git_token_id: string
}

/** The directories below another one, whose path ends with a slash. Each is a whole path. */
export const directories = (organizationId: string, repository: Repository, above: string): Suggestion => ({
  key: ['directories', ...Object.values(repository), above],
  ask: async () => {
    const { url, branch, git_token_id: token } = repository
    const body = { url, root_path: above, branch: branch || null, git_token_id: token || null }
    const { results } = await api.listDirectoriesFromGitRepository({ organizationId, body })
    return results.map((name) => `${above}${name}`)
  },
})
