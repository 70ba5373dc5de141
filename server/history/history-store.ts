import type { Origin } from '@quayside/contract/enums.ts'
import type { Action } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { TargetRow } from '../requests/index.ts'

/** What one request did to one service, with the request. */
export interface HistoryRow extends TargetRow {
  readonly execution_id: string
  readonly action: Action
  readonly origin: Origin
  readonly triggered_by: string
  readonly created_at: Date
  readonly updated_at: Date
}

/**
 * What of a release the history tells: its settings; null where none was made, or it is gone with
 * its service.
 */
export interface WithSettings {
  readonly settings: Readonly<Record<string, Json>> | null
}

/**
 * Settings of the release that the target `t` names; of what runs nothing when it is deployed, and
 * of what failed before it was started, those of the release that its request made. Each is one
 * look into an index, however many releases there are.
 */
export const targetSettings = (sql: Sql) => sql`
  coalesce((select settings from release where id = t.release_id),
    (select settings from release where service_id = t.service_id and request_id = t.request_id)) as settings`

/**
 * The last ones of a service, newest first, at most 20. That limit is a literal: of a parameter,
 * the planner expects a tenth of the history and reads all requests for it.
 */
export const listHistory = (sql: Sql, serviceId: string, count: number) =>
  sql<(HistoryRow & WithSettings)[]>`
    select t.*, r.execution_id, r.action, r.origin, r.triggered_by, r.created_at, r.updated_at, ${targetSettings(sql)}
    from (select * from deployment_target where service_id = ${serviceId} order by service_seq desc limit 20) t
    join deployment_request r on r.id = t.request_id order by t.service_seq desc
    limit ${count}`
