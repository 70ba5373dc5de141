import type { Sql } from '../database/index.ts'
import { parseId } from '../lib/id.ts'
import type { RequestRow, TargetRow } from '../requests/index.ts'
import { type HistoryRow, targetRun, targetSettings, type WithRun, type WithSettings } from './history-store.ts'

/** The start of a page: it follows this deployment of the same environment or service. */
interface Place {
  readonly count: number
  readonly behind?: string | undefined
}

export const listRequests = (sql: Sql, environmentId: string, { count, behind }: Place) =>
  sql<RequestRow[]>`
    select * from deployment_request where environment_id = ${environmentId}
      ${behind === undefined ? sql`` : sql`and seq < (select seq from deployment_request where id = ${behind})`}
    order by seq desc limit ${count}`

export const listTargetsWithSettings = (sql: Sql, requestIds: readonly string[]) =>
  sql<(TargetRow & WithSettings & WithRun)[]>`
    select t.*, ${targetSettings(sql)}, ${targetRun(sql)} from deployment_target t
    where t.request_id = any(${[...requestIds]}::uuid[]) order by t.stage_order, t.service_seq`

/**
 * Lists the deployments of a service, newest first, at most 20. The limit is a literal because for
 * a parameter the planner expects a tenth of the history and reads all requests.
 */
export const listServiceTargets = (sql: Sql, serviceId: string, behind: string | undefined) =>
  sql<(HistoryRow & WithSettings)[]>`
    select t.*, q.execution_id, q.action, q.origin, q.triggered_by, q.created_at, q.updated_at, ${targetSettings(sql)}
    from (select * from deployment_target where service_id = ${serviceId}
        ${
          behind === undefined
            ? sql``
            : sql`and service_seq < (select service_seq from deployment_target
          where request_id = ${behind} and service_id = ${serviceId})`
        }
      order by service_seq desc limit 20) t
    join deployment_request q on q.id = t.request_id
    order by t.service_seq desc`

/** Whether the deployment belongs to this environment. */
export async function isRequestOf(sql: Sql, requestId: string, environmentId: string): Promise<boolean> {
  const rows = await sql`
    select from deployment_request where id = ${requestId} and environment_id = ${environmentId}`
  return rows.length === 1
}

/** Whether the deployment acted on this service. */
export async function isTargetOf(sql: Sql, requestId: string, serviceId: string): Promise<boolean> {
  const rows = await sql`select from deployment_target where request_id = ${requestId} and service_id = ${serviceId}`
  return rows.length === 1
}

/** Lists the running and queued requests for a service, in order, with their action on it. */
export const listActiveTargets = (sql: Sql, serviceId: string) =>
  sql<HistoryRow[]>`
    select t.*, r.execution_id, r.action, r.origin, r.triggered_by, r.created_at, r.updated_at
    from service s
    join deployment_request r on r.environment_id = s.environment_id and r.status in ('QUEUED', 'ONGOING', 'CANCELING')
    join deployment_target t on t.request_id = r.id and t.service_id = s.id
    where s.id = ${serviceId} order by r.seq`

export interface RequestTargetRow extends RequestRow {
  readonly organization_id: string
  readonly project_id: string
  readonly environment_name: string
  readonly environment_mode: string
}

/** Selects the deployment request that an API request is for. */
export const deploymentRequestTarget = (sql: Sql, id: string) => sql`
  select r.*, p.organization_id, e.project_id, e.name as environment_name, e.mode as environment_mode
  from deployment_request r join environment e on e.id = r.environment_id join project p on p.id = e.project_id
  where r.id = ${id}`

/** Returns the id of a deployment of an environment by its execution, or by that id itself. */
export async function findRequestOf(sql: Sql, version: string, environmentId: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from deployment_request
    where environment_id = ${environmentId} and (execution_id = ${version} or id = ${parseId(version) ?? null}::uuid)`
  return row?.id
}
