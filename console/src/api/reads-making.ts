import { ApiError } from '@quayside/client/client-of.ts'
import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { attachedTo } from './service-bodies.ts'
import type { GitToken } from './suggestions.ts'

// The reads of the forms that make things.

export const clusters = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId, 'clusters'],
    queryFn: async () => (await api.listOrganizationCluster({ organizationId })).results,
  })

/** The things of an organization among which the form of a service chooses. */
export interface Choices {
  readonly organizationId: string
  readonly registries: readonly Named[]
  readonly helmRepositories: readonly Named[]
  readonly gitTokens: readonly (Named & GitToken)[]
  readonly labelsGroups: readonly Named[]
  readonly annotationsGroups: readonly Named[]
  /** The addresses of repositories of the built-in git host. */
  readonly repositories: readonly string[]
  readonly databases: readonly { readonly type: string; readonly versions: readonly string[] }[]
  readonly engines: readonly { readonly engine: string; readonly version: string }[]
}
export interface Named {
  readonly id: string
  readonly name: string
}

/** They are read again for each form, because nothing reports their changes. */
export const choices = (organizationId: string, environmentId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId, 'choices', environmentId],
    staleTime: 0,
    queryFn: async (): Promise<Choices> => {
      const [registries, helmRepositories, gitTokens, labels, annotations, databases, engines, repositories] =
        await Promise.all([
          api.listContainerRegistry({ organizationId }),
          api.listHelmRepository({ organizationId }),
          api.listOrganizationGitTokens({ organizationId }),
          api.listOrganizationLabelsGroup({ organizationId }),
          api.listOrganizationAnnotationsGroup({ organizationId }),
          api.listEnvironmentDatabaseConfig({ environmentId }),
          api.listTerraformVersions({}),
          hostedAddresses(organizationId),
        ])
      return {
        organizationId,
        registries: registries.results,
        helmRepositories: helmRepositories.results,
        gitTokens: gitTokens.results,
        labelsGroups: labels.results,
        annotationsGroups: annotations.results,
        repositories,
        databases: databases.results.map(({ database_type: type, version }) => ({
          type,
          versions: [...new Set(version.map(({ name }) => name))],
        })),
        engines: engines.results,
      }
    },
  })

/** People who may not write do not read the list, but they may read the settings of services. */
async function hostedAddresses(organizationId: string): Promise<readonly string[]> {
  try {
    return (await api.listHostedRepositories({ organizationId })).results.map(({ url }) => url)
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return []
    throw error
  }
}

/** The things that are lost with a service beside its data. */
export const attachments = (environmentId: string, kind: KindName, serviceId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'attachments', serviceId],
    staleTime: 0,
    queryFn: () => attachedTo(kind, serviceId),
  })
