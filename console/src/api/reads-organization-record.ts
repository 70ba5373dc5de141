import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

// The record of an organization is in the list of organizations.

/** The state of the last change of the key. Only people who may manage the organization read it. */
export const keyRotation = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'key-rotation'),
    queryFn: () => api.getOrganizationKeyRotation({ organizationId }),
    staleTime: 0,
    // No event reports its end.
    refetchInterval: ({ state }) => (state.data?.state === 'RUNNING' ? 1_000 : false),
  })

/** The account of the person who is signed in. */
export const account = () => queryOptions({ queryKey: ['account'], queryFn: () => api.getAccountInformation({}) })
