import type { Database } from '../database/index.ts'
import { toEnvironmentStatus } from '../requests/index.ts'
import { type EnvironmentSummaryRow, listEnvironmentSummaries } from './project-status-store.ts'

/** Lists the environments of a project with cluster, number of services and status. */
export const projectOverview = async (database: Database, projectId: string) =>
  (await listEnvironmentSummaries(database, projectId)).map((row) => ({
    ...row,
    services_overview: { service_count: row.services.length, managed_by: 'QOVERY' as const },
    deployment_status: statusOf(row),
  }))

function statusOf({ id, services, last_request: last, active_request_id }: EnvironmentSummaryRow) {
  const request = last && {
    ...last,
    created_at: new Date(last.created_at),
    finished_at: last.finished_at === null ? null : new Date(last.finished_at),
  }
  return toEnvironmentStatus(id, services, request ?? undefined, active_request_id ? [{ id: active_request_id }] : [])
}
