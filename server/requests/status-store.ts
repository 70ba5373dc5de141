import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { StackAction } from '@quayside/contract/services/terraform.ts'
import type { Action, RequestStatus, State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'

/** The data of one service's status, from one statement. */
export interface StatusRow {
  readonly id: string
  readonly kind: KindName
  readonly stage_id: string
  readonly state: State
  readonly config_version: number
  readonly deployed_config_version: number | null
  /** Since when a deployment of a stack would change something that nobody edited. */
  readonly drifted_at: Date | string | null
  readonly release_id: string | null
  readonly last_deployment_date: Date | null
  readonly is_part_last_deployment: boolean
  readonly observed_state: string | null
  readonly observed_reason: string | null
  /** Why the platform stopped the service; null if it did not. */
  readonly stop_reason: string | null
  readonly request_id: string | null
  readonly execution_id: string | null
  readonly action: Action | null
  readonly request_status: RequestStatus | null
  readonly target_status: RequestStatus | 'SKIPPED' | null
  readonly stack_action: StackAction | null
  readonly reason: string | null
  /** The times when the last request started and finished its work on the service. */
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly requests_count: number
  /** Whether its data are being copied, in or out. Waiting requests start afterwards. */
  readonly in_copy: boolean
  readonly steps: readonly StepRow[] | null
}

export interface StepRow {
  readonly name: string
  readonly status: 'SUCCESS' | 'ERROR' | 'CANCEL' | 'SKIP' | null
  readonly seconds: number | null
}

/**
 * Reads one row for each service with its last request. With `requestId`, the rows show the
 * services as that request left them; services that it does not concern have no request.
 */
export const readStatuses = (
  sql: Sql,
  where:
    | { readonly environmentId: string; readonly requestId: string }
    | { readonly environmentId: string }
    | { readonly serviceIds: readonly string[] },
) => {
  const { state, observed, isPart, ofRequest } = 'requestId' in where ? asLeftBy(sql, where.requestId) : present(sql)
  return sql<StatusRow[]>`
    select s.id, s.kind, s.stage_id, ${state} as state, s.config_version, s.deployed_config_version, s.drifted_at,
      s.release_id,
      s.last_deployment_date, ${observed},
      t.request_id, r.execution_id, r.action, r.status as request_status, t.status as target_status, t.stack_action,
      t.reason,
      t.started_at, t.finished_at, ${isPart} as is_part_last_deployment,
      (select count(*)::int from deployment_target w join deployment_request q on q.id = w.request_id
        where w.service_id = s.id and q.environment_id = s.environment_id and q.status = 'QUEUED') as requests_count,
      s.copying is not null or exists (select from service c where c.copying = s.id) as in_copy,
      (select jsonb_agg(jsonb_build_object('name', split_part(p.name, '/', 2), 'status', p.status,
          'seconds', round(extract(epoch from p.finished_at - p.started_at))::int) order by p.started_at)
        from workflow_step p where p.workflow_id = t.request_id and p.name like s.id || '/%') as steps
    from service s
    left join observation o on o.service_id = s.id
    left join full_volume f on f.service_id = s.id and f.stopped_at is not null
    left join lateral (select * from deployment_target d where d.service_id = s.id ${ofRequest}
      order by service_seq desc limit 1) t on true
    left join deployment_request r on r.id = t.request_id
    where ${
      'serviceIds' in where
        ? sql`s.id =
      any(${[...where.serviceIds]}::uuid[])`
        : sql`s.environment_id =
      ${where.environmentId}`
    }
    order by s.created_at, s.id`
}

const present = (sql: Sql) => ({
  state: sql`s.state`,
  observed: sql`o.state as observed_state, o.reason as observed_reason, f.reason as stop_reason`,
  isPart: sql`coalesce(r.id = (select id from deployment_request l where l.environment_id = s.environment_id
    order by seq desc limit 1), false)`,
  ofRequest: sql``,
})

/** Returns the columns as a request left them. Current observations do not apply to them. */
const asLeftBy = (sql: Sql, requestId: string) => ({
  state: sql`coalesce(t.state, s.state)`,
  observed: sql`null as observed_state, null as observed_reason, null as stop_reason`,
  isPart: sql`t.request_id is not null`,
  ofRequest: sql`and d.request_id = ${requestId}`,
})
