import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// The reads of the forms that make things.

export const clusters = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId, 'clusters'],
    queryFn: async () => (await api.listOrganizationCluster({ organizationId })).results,
  })
