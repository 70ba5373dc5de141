import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

// The reads of tokens, whose values are never among them.

export const apiTokens = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'api-tokens'),
    queryFn: async () => (await api.listOrganizationApiTokens({ organizationId })).results,
  })

export const gitTokens = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'git-tokens'),
    queryFn: async () => (await api.listOrganizationGitTokens({ organizationId })).results,
  })
