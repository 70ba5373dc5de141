import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

/** Every service of the organization that the person may read. It is read again for each search. */
export const organizationServices = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'services'),
    staleTime: 0,
    queryFn: async () => (await api.listServicesByOrganizationId({ organizationId })).results,
  })
