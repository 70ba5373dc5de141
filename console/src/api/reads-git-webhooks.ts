import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

export type GitWebhook = Awaited<ReturnType<typeof api.listGitWebhooks>>['results'][number]
export type GitPush = Awaited<ReturnType<typeof api.listGitPushes>>['results'][number]

// No event reports a message of a provider, so each visit reads these lists.

export const gitWebhooks = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'git-webhooks'),
    queryFn: async () => (await api.listGitWebhooks({ organizationId })).results,
    staleTime: 0,
  })

export const gitPushes = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'git-pushes'),
    queryFn: async () => (await api.listGitPushes({ organizationId })).results,
    staleTime: 0,
  })

export const gitWebhookDeliveries = (organizationId: string, gitWebhookId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'git-webhook-deliveries', gitWebhookId),
    queryFn: async () => (await api.listGitWebhookDeliveries({ organizationId, gitWebhookId })).results,
    gcTime: 0,
  })
