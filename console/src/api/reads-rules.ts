import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** The deployment rules of a project, in their order. No event reports their changes. */
export const projectRules = (projectId: string) =>
  queryOptions({
    queryKey: ['project', projectId, 'rules'],
    staleTime: 0,
    queryFn: async () => (await api.listProjectDeploymentRules({ projectId })).results,
  })

export type ProjectRule = Awaited<ReturnType<typeof api.listProjectDeploymentRules>>['results'][number]
