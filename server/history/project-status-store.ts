import type { Origin } from '@quayside/contract/enums.ts'
import type { Action, RequestStatus, State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'
import { type RequestProgress, requestTargets } from '../requests/index.ts'

/**
 * An environment with the parts of its status. Times in `last_request` are strings because they
 * come as JSON.
 */
export interface EnvironmentSummaryRow {
  readonly id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly name: string
  readonly mode: EnvironmentMode
  readonly cluster: {
    readonly id: string
    readonly name: string
    readonly cloud_provider: string
    readonly is_demo: boolean
  }
  readonly services: readonly {
    readonly state: State
    readonly config_version: number
    readonly deployed_config_version: number | null
    readonly drifted_at: string | null
  }[]
  readonly last_request:
    | (RequestProgress & {
        readonly action: Action
        readonly status: RequestStatus
        readonly execution_id: string
        readonly origin: Origin
        readonly triggered_by: string
        readonly created_at: string
        readonly finished_at: string | null
      })
    | null
  readonly active_request_id: string | null
}

/** Lists one row per environment of the project, oldest first, for any number of services. */
export const listEnvironmentSummaries = (sql: Sql, projectId: string) =>
  sql<EnvironmentSummaryRow[]>`
    select e.id, e.created_at, e.updated_at, e.name, e.mode, a.id as active_request_id,
      jsonb_build_object('id', c.id, 'name', c.name, 'cloud_provider', c.cloud_provider, 'is_demo', c.is_demo) as
      cluster,
      coalesce((select jsonb_agg(jsonb_build_object('state', s.state, 'config_version', s.config_version,
          'deployed_config_version', s.deployed_config_version, 'drifted_at', s.drifted_at))
        from service s where s.environment_id = e.id), '[]') as services,
      case when l.id is not null then jsonb_build_object('action', l.action,
        'status', l.status, 'targets', l.targets, 'execution_id', l.execution_id, 'origin', l.origin,
        'triggered_by', l.triggered_by, 'created_at', l.created_at, 'finished_at', l.finished_at) end as last_request
    from environment e join cluster c on c.id = e.cluster_id
    left join lateral (select r.*, ${requestTargets(sql)} as targets from deployment_request r
      where r.environment_id = e.id order by seq desc limit 1) l
      on true
    left join lateral (select id from deployment_request r where r.environment_id = e.id
      and r.status in ('QUEUED', 'ONGOING', 'CANCELING') order by seq limit 1) a on true
    where e.project_id = ${projectId} order by e.created_at, e.id`
