import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type Copy = Awaited<ReturnType<typeof api.listCopies>>['results'][number]

const dayMs = 24 * 3600 * 1000
const failureMs = 7 * dayMs

/**
 * The last copies of environments, and of services with data, newest first. An event reports each
 * beginning and each end. No event reports the bytes in between.
 */
export const copies = (organizationId: string) =>
  queryOptions({
    queryKey: ['organization', organizationId, 'projects', 'copies'],
    queryFn: async () => (await api.listCopies({ organizationId })).results,
    refetchInterval: ({ state: { data } }) => (data?.some(isOngoing) ? 2_000 : false),
  })

export const isOngoing = ({ status }: Copy): boolean => status === 'ONGOING'

/**
 * Pure: the copies that concern people now: those in progress, the failures of a week, and the
 * successes of a day. Canceled copies are the wish of a person.
 */
export const currentCopies = (all: readonly Copy[], now: number): readonly Copy[] =>
  all.filter((copy) => {
    const ageMs = now - Date.parse(copy.finished_at ?? copy.created_at)
    return isOngoing(copy) || ageMs < (copy.status === 'ERROR' ? failureMs : copy.status === 'SUCCESS' ? dayMs : 0)
  })
