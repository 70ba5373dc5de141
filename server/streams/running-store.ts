import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

/** A service and what was seen to run of it last. */
export interface RunningRow {
  readonly environment_id: string
  readonly project_id: string
  readonly mode: EnvironmentMode
  /** Null: the environment has no service. */
  readonly id: string | null
  readonly kind: KindName
  readonly name: string
  readonly state: State
  readonly observed_state: string | null
  readonly reason: string | null
  readonly replicas: readonly ReplicaRow[] | null
  readonly release_id: string | null
  readonly action: string | null
}

export interface ReplicaRow {
  readonly name: string
  readonly running: boolean
  /** Absent from what an earlier version wrote down. */
  readonly image?: string
  /** RFC 3339; absent: it never started. */
  readonly startedAt?: string
  /** RFC 3339; absent: it never ended. */
  readonly finishedAt?: string
  readonly exits: number
  readonly exitCode?: number
  readonly outOfMemory: boolean
}

/** Every service of these environments, or of all of one project or one cluster; an environment without any has a row, too. */
export const listRunning = (
  sql: Sql,
  where: {
    readonly clusterId: string | undefined
    readonly projectId: string | undefined
    readonly environmentIds: readonly string[] | undefined
  },
) => sql<RunningRow[]>`
  select e.id as environment_id, e.project_id, e.mode, s.id, s.kind, s.name, s.state, o.state as observed_state, o.reason,
    o.replicas, o.release_id,
    (select r.action from deployment_target t join deployment_request r on r.id = t.request_id
      where t.service_id = s.id order by t.service_seq desc limit 1) as action
  from environment e left join service s on s.environment_id = e.id left join observation o on o.service_id = s.id
  where (${where.clusterId ?? null}::uuid is null or e.cluster_id = ${where.clusterId ?? null})
    and (${where.projectId ?? null}::uuid is null or e.project_id = ${where.projectId ?? null})
    and (${where.environmentIds === undefined} or e.id = any(${[...(where.environmentIds ?? [])]}::uuid[]))
  order by e.created_at, e.id, s.created_at, s.id`

/** Names of the replicas that run. */
export async function listReplicaNames(sql: Sql, serviceId: string): Promise<string[]> {
  const [row] = await sql<{ replicas: readonly ReplicaRow[] }[]>`
    select replicas from observation where service_id = ${serviceId}`
  return (row?.replicas ?? []).filter(({ running }) => running).map(({ name }) => name)
}
