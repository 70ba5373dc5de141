import { api } from './client.ts'
import { type KindName, kinds } from './kinds.ts'

/** The read of the newest deployments of something, for the hooks of the library. */
export interface HistoryRead<T> {
  readonly queryKey: readonly (string | number)[]
  readonly queryFn: () => Promise<History<T>>
}
interface History<T> {
  readonly results: readonly T[]
  /** Whether there are older ones. */
  readonly hasMore: boolean
}

type OfEnvironment = Awaited<ReturnType<typeof api.listEnvironmentDeploymentHistoryV2>>['results'][number]
type OfService = Awaited<ReturnType<typeof api.listApplicationDeploymentHistoryV2>>['results'][number]

/** The deployments of an environment, newest first, twenty a page. */
export const environmentHistory = (environmentId: string, pages = 1): HistoryRead<OfEnvironment> => ({
  queryKey: ['environment', environmentId, 'history', pages],
  queryFn: () => readPages((query) => api.listEnvironmentDeploymentHistoryV2({ environmentId, query }), pages),
})

/** The deployments of a service, by the operation of its kind. */
export const serviceHistory = (
  environmentId: string,
  kind: KindName,
  serviceId: string,
  pages = 1,
): HistoryRead<OfService> => ({
  queryKey: ['environment', environmentId, 'history', serviceId, pages],
  queryFn: () => readPages((query) => kinds[kind].history(serviceId, query), pages),
})

interface Executed {
  readonly identifier: { readonly execution_id: string }
}
interface Page<T> {
  readonly results: readonly T[]
  readonly page_size: number
}

/** Reads pages as one, so that a change in the meantime moves nothing past the end of a page. */
async function readPages<T extends Executed>(
  read: (query: { readonly startId?: string }) => Promise<Page<T>>,
  pages: number,
): Promise<History<T>> {
  const { results: newest, page_size } = await read({})
  const results = [...newest]
  let hasMore = newest.length === page_size
  for (let page = 1; page < pages && hasMore; page++) {
    const startId = results.at(-1)?.identifier.execution_id
    const older = (await read(startId === undefined ? {} : { startId })).results
    results.push(...older)
    hasMore = older.length === page_size
  }
  return { results, hasMore }
}
