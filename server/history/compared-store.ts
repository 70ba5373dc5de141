import type { Action } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'

/** An execution of a service, and the release that it started or made. */
export interface ComparedRow {
  readonly execution_id: string
  readonly action: Action
  readonly created_at: Date
  readonly release_id: string | null
  readonly is_kept: boolean | null
}

/** Lists those of the executions that concern the service, with the release of each. */
export const listCompared = (sql: Sql, serviceId: string, executionIds: readonly string[]) =>
  sql<ComparedRow[]>`
    select q.execution_id, q.action, q.created_at, r.id as release_id, r.is_kept and r.image is not null as is_kept
    from deployment_request q join deployment_target t on t.request_id = q.id and t.service_id = ${serviceId}
    left join release r on r.id = coalesce(t.release_id,
      (select id from release where service_id = t.service_id and request_id = t.request_id))
    where q.execution_id = any(${executionIds as string[]})`
