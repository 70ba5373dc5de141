import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { asDraft, valueAt } from '../forms/draft.ts'
import { api } from './client.ts'

type Commits = Awaited<ReturnType<typeof api.listApplicationCommit>>

/** The operations that list the commits of the kinds which are made from git. */
const reads: Readonly<Partial<Record<KindName, (id: string) => Promise<Commits>>>> = {
  application: (applicationId) => api.listApplicationCommit({ applicationId }),
  job: (jobId) => api.listJobCommit({ jobId }),
  helm: (helmId) => api.listHelmCommit({ helmId }),
  terraform: (terraformId) => api.listTerraformCommit({ terraformId }),
}

/** The last commits of the branch of a service, newest first. The git server is asked each time. */
export const serviceCommits = (kind: KindName, serviceId: string) =>
  queryOptions({
    queryKey: ['commits', serviceId],
    staleTime: 0,
    retry: false,
    queryFn: async () => (await reads[kind]?.(serviceId))?.results ?? [],
  })

/** Whether pushes to the repository of a service arrive. Each visit asks: no event reports it. */
export const pushStatus = (environmentId: string, serviceId: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'push status', serviceId],
    staleTime: 0,
    queryFn: () => api.getServiceGitWebhookStatus({ serviceId }),
  })

const places = ['git_repository', 'source.docker', 'source.git_repository', 'terraform_files_source.git'] as const

/** Pure: whether a service is made from a repository. */
export const hasRepository = (service: object): boolean => places.some((path) => valueAt(asDraft(service), path))
