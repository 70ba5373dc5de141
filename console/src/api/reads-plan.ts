import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type Rule = Awaited<ReturnType<typeof api.getEnvironmentDeploymentRule>>

/** The hours at which an environment runs. No event reports their changes. */
export const deploymentRule = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'rule'],
    staleTime: 0,
    queryFn: () => api.getEnvironmentDeploymentRule({ environmentId }),
  })
