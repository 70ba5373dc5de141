import type { Sql } from '../database/index.ts'
import type { RequestRow } from './request-store.ts'

/**
 * Returns and locks the waiting requests for a service, in order. None starts before the
 * transaction ends.
 */
export const waitingRequestsOf = (sql: Sql, serviceId: string) =>
  sql<RequestRow[]>`
    select r.* from deployment_request r join deployment_target t on t.request_id = r.id
    where t.service_id = ${serviceId} and t.finished_at is null and r.status = 'QUEUED'
    order by r.seq for update of r`
