import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

export type Webhook = Awaited<ReturnType<typeof api.getOrganizationWebhook>>
export type Delivery = Awaited<ReturnType<typeof api.listWebhookEvent>>['results'][number]

export const webhooks = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'webhooks'),
    queryFn: async () => (await api.listOrganizationWebHooks({ organizationId })).results,
  })

/** A delivery that is pending for longer waits for its next try. */
const freshMs = 30_000
const isFresh = ({ state, created_at: at }: Delivery): boolean =>
  state === 'pending' && Date.now() - Date.parse(at) < freshMs

/** No event reports the end of a delivery. So the list is read again while one is new. */
export const deliveries = (organizationId: string, webhookId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'deliveries', webhookId),
    queryFn: async () => (await api.listWebhookEvent({ organizationId, webhookId })).results,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.some(isFresh) ? 1_000 : false),
  })
