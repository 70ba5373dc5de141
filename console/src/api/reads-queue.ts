import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type QueuedDeployment = Awaited<ReturnType<typeof api.listDeploymentRequestByEnvironmentId>>['results'][number]

/** The deployments of an environment that run or wait, in their order. */
export const deploymentQueue = (environmentId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'queue'],
    queryFn: async () => (await api.listDeploymentRequestByEnvironmentId({ environmentId })).results,
  })

/** Pure: the stage in which a deployment is, with the number of its services that are done. */
export function progressOf({ stages }: QueuedDeployment): string | undefined {
  const stage = stages.find(({ status }) => status === 'ONGOING')
  if (!stage) return undefined
  const done = stage.services.filter(({ status }) => status !== 'ONGOING' && status !== 'QUEUED').length
  return `${stage.name}, ${done} of ${stage.services.length} done`
}
