import type { KindName } from '@quayside/contract/services/kinds.ts'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { rollbackPlan } from './kinds-deployments.ts'

// The reads about versions of a service.

/** The difference between the versions of two executions. Both have ended, so it never changes. */
export const comparison = (environmentId: string, serviceId: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'comparison', serviceId, from, to],
    queryFn: () => api.compareServiceDeployments({ serviceId, query: { from, to } }),
  })

export type Comparison = Awaited<ReturnType<typeof api.compareServiceDeployments>>

/** A version of a service to which it rolls back. */
export interface Rollback {
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
  readonly executionId: string
}

/** The effect of a rollback. It is compared again each time. */
export const rollbackEffect = ({ environmentId, kind, serviceId, executionId }: Rollback) =>
  queryOptions({
    queryKey: ['environment', environmentId, 'rollback', serviceId, executionId],
    queryFn: () => rollbackPlan(kind, serviceId, executionId),
    staleTime: 0,
    gcTime: 0,
  })

export type RollbackPlan = Awaited<ReturnType<typeof rollbackPlan>>
