import type { Origin } from '@quayside/contract/enums.ts'
import type { PlanAction } from '@quayside/contract/services/stack-records.ts'
import type { Action } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { parseId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'
import type { TargetRow } from '../requests/index.ts'

/** The effect of one request on one service, with the request. */
export interface HistoryRow extends TargetRow {
  readonly execution_id: string
  readonly action: Action
  readonly origin: Origin
  readonly triggered_by: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** The settings of a release. Null if none was created, or it was deleted with its service. */
export interface WithSettings {
  readonly settings: Readonly<Record<string, Json>> | null
  /** The commit of the values of a chart that are in git. */
  readonly values_commit: string | null
}

/** The run of a stack that a request made, with the counts of its plan. Null for other kinds. */
export interface WithRun {
  readonly stack_run: { readonly id: string; readonly counts: Counts | null } | null
}
type Counts = { readonly [A in PlanAction]: number }

/**
 * Selects settings of the release that target `t` names. If the target names none, because nothing
 * runs after its deployment or it failed earlier, selects those of the release its request created.
 * Each is one index lookup, however many releases exist.
 */
export const targetSettings = (sql: Sql) => sql`
  coalesce((select settings from release where id = t.release_id),
    (select settings from release where service_id = t.service_id and request_id = t.request_id)) as settings,
  coalesce((select image ->> 'valuesCommit' from release where id = t.release_id),
    (select image ->> 'valuesCommit' from release where service_id = t.service_id and request_id = t.request_id))
    as values_commit`

/** Selects the run of the stack of target `t`. */
export const targetRun = (sql: Sql) => sql`
  (select jsonb_build_object('id', u.id, 'counts', u.plan -> 'counts') from stack_run u
    where u.request_id = t.request_id and u.service_id = t.service_id
    order by u.created_at desc limit 1) as stack_run`

interface HistoryPlace {
  readonly count: number
  /** The place of the deployment after which the list begins. */
  readonly behind: string | undefined
}

/**
 * Lists deployments of a service, newest first, at most 20. The limit is a literal because
 * for a parameter the planner expects a tenth of the history and reads all requests.
 */
export const listHistory = (sql: Sql, serviceId: string, { count, behind }: HistoryPlace) =>
  sql<(HistoryRow & WithSettings & WithRun)[]>`
    select t.*, r.execution_id, r.action, r.origin, r.triggered_by, r.created_at, r.updated_at, ${targetSettings(sql)},
      ${targetRun(sql)}
    from (select * from deployment_target where service_id = ${serviceId}
        ${behind === undefined ? sql`` : sql`and service_seq < ${behind}`}
      order by service_seq desc limit 20) t
    join deployment_request r on r.id = t.request_id order by t.service_seq desc
    limit ${count}`

/** Returns the place of a deployment in the history of a service, by its execution or request. */
export async function findTargetOf(sql: Sql, version: string, serviceId: string): Promise<string | undefined> {
  const [row] = await sql<{ service_seq: string }[]>`
    select t.service_seq from deployment_target t join deployment_request r on r.id = t.request_id
    where t.service_id = ${serviceId} and (r.execution_id = ${version} or r.id = ${parseId(version) ?? null}::uuid)`
  return row?.service_seq
}
