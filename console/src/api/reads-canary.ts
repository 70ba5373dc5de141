import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** The canary step of a service that is being deployed. Null: it has none. */
export const canary = (environmentId: string, serviceId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'canary', serviceId],
    queryFn: async () => (await api.getServiceCanary({ serviceId })).canary,
    refetchInterval: 2_000,
  })

export type CanaryStep = NonNullable<Awaited<ReturnType<typeof api.getServiceCanary>>['canary']>
