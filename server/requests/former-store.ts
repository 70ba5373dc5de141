import type { Action } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { TargetRow } from './target-store.ts'

/** The effect of an earlier request on a service, and whether its release is kept. */
export interface FormerRow {
  readonly request_id: string
  readonly action: Action
  readonly status: TargetRow['status']
  readonly created_at: Date
  readonly release_id: string | null
  readonly is_kept: boolean | null
}

/** Returns the effect of an execution on a service. */
export async function findFormer(sql: Sql, serviceId: string, executionId: string): Promise<FormerRow | undefined> {
  const [row] = await sql<FormerRow[]>`
    select q.id as request_id, q.action, t.status, q.created_at, t.release_id, r.is_kept
    and r.image is not null as is_kept
    from deployment_request q join deployment_target t on t.request_id = q.id and t.service_id = ${serviceId}
    left join release r on r.id = t.release_id
    where q.execution_id = ${executionId}`
  return row
}
