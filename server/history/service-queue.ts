import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { Database } from '../database/index.ts'
import { listTargets, type RequestRow, requestState, statusDetails } from '../requests/index.ts'
import { listActiveTargets } from './environment-history-store.ts'

/** Lists the running and queued deployment requests for a service, in order. */
export const serviceQueue = async (database: Database, serviceId: string) =>
  (await listActiveTargets(database, serviceId)).map((row) => ({
    identifier: {
      deployment_request_id: row.request_id,
      service_id: row.service_id,
      service_type: serviceTypeOf(row.kind),
      name: row.name,
    },
    auditing_data: { triggered_by: row.triggered_by, origin: row.origin },
    status_details: statusDetails(row),
    icon_uri: row.icon_uri,
  }))

/** Returns the state of a deployment request. */
export async function requestStatus(database: Database, request: RequestRow) {
  const status = requestState(request, await listTargets(database, [request.id]))
  return { deployment_request_id: request.id, environment_id: request.environment_id, status }
}
