import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
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
