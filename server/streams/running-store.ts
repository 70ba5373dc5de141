import { type KindName, taskKinds } from '@quayside/contract/services/kinds.ts'
import type { StackAction } from '@quayside/contract/services/terraform.ts'
import type { Action, State } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

/** A service and its last observation. */
export interface RunningRow {
  readonly environment_id: string
  readonly project_id: string
  readonly mode: EnvironmentMode
  /** Null if the environment has no service. */
  readonly id: string | null
  readonly kind: KindName
  readonly name: string
  readonly state: State
  readonly observed_state: string | null
  readonly reason: string | null
  readonly replicas: readonly ReplicaRow[] | null
  readonly release_id: string | null
  /** Of the last request, with its action on a stack. */
  readonly action: Action | null
  readonly stack_action: StackAction | null
  /**
   * The current runs of a job, or the last one that ended on its own. Null if it is not a job or
   * has none.
   */
  readonly runs: readonly RunRow[] | null
}

export interface ReplicaRow {
  readonly name: string
  readonly running: boolean
  /** Absent in records of an earlier version. */
  readonly image?: string
  /** RFC 3339. Absent if it never started. */
  readonly startedAt?: string
  /** RFC 3339. Absent if it never ended. */
  readonly finishedAt?: string
  readonly exits: number
  readonly exitCode?: number
  readonly outOfMemory: boolean
}

/** A run of a job. Times are RFC 3339. */
export interface RunRow {
  readonly id: string
  readonly status: 'RUNNING' | 'SUCCESS' | 'ERROR'
  readonly release_id: string
  readonly image: string | null
  /** Null if its program never started. */
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly tries: number
  readonly exit_code: number | null
  readonly reason: string | null
}

/**
 * Lists every service of these environments, or of one project or cluster. An environment without
 * services has one row too.
 */
export const listRunning = (
  sql: Sql,
  where: {
    readonly clusterId: string | undefined
    readonly projectId: string | undefined
    readonly environmentIds: readonly string[] | undefined
  },
) => sql<RunningRow[]>`
  select e.id as environment_id, e.project_id, e.mode, s.id, s.kind, s.name, s.state, o.reason, o.replicas,
  o.release_id,
    case when s.kind = any(${[...taskKinds]}) then job_state(s.id, s.state) else o.state end as observed_state,
    case when s.kind = any(${[...taskKinds]}) then (${runsOf(sql)}) end as runs,
    l.action, l.stack_action
  from environment e left join service s on s.environment_id = e.id left join observation o on o.service_id = s.id
    left join lateral (select r.action, t.stack_action from deployment_target t
      join deployment_request r on r.id = t.request_id
      where t.service_id = s.id order by t.service_seq desc limit 1) l on true
  where (${where.clusterId ?? null}::uuid is null or e.cluster_id = ${where.clusterId ?? null})
    and (${where.projectId ?? null}::uuid is null or e.project_id = ${where.projectId ?? null})
    and (${where.environmentIds === undefined} or e.id = any(${[...(where.environmentIds ?? [])]}::uuid[]))
  order by e.created_at, e.id, s.created_at, s.id`

/**
 * A run starts waiting shortly before its time, and its start is only written when it has ended.
 */
const runsOf = (sql: Sql) => sql`
  select jsonb_agg(jsonb_build_object('id', r.id, 'status', r.status, 'release_id', r.release_id, 'image', l.image
  ->> 'reference',
    'started_at', case r.status when 'RUNNING' then greatest(r.updated_at, r.scheduled_at) else r.started_at end,
    'finished_at', r.finished_at, 'tries', r.tries, 'exit_code', r.exit_code, 'reason', r.reason)
    order by r.created_at, r.id)
  from (
    select * from job_run where service_id = s.id and status = 'RUNNING'
    union all
    (select * from job_run where service_id = s.id and status in ('SUCCESS', 'ERROR')
    order by finished_at desc, id desc limit 1)
  ) r left join release l on l.id = r.release_id
  where (r.status = 'RUNNING') = (job_state(s.id, s.state) = 'running')`

/** Lists the names of running replicas, and the current runs of a job. */
export async function listReplicaNames(sql: Sql, serviceId: string): Promise<string[]> {
  const [row] = await sql<{ replicas: readonly ReplicaRow[] | null; runs: string[] }[]>`
    select o.replicas, array(select r.id::text from job_run r where r.service_id = s.id and r.status = 'RUNNING'
      order by r.created_at, r.id) as runs
    from service s left join observation o on o.service_id = s.id where s.id = ${serviceId}`
  const running = (row?.replicas ?? []).filter((replica) => replica.running).map(({ name }) => name)
  return [...running, ...(row?.runs ?? [])]
}
