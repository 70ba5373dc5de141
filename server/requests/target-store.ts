import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { StackAction } from '@quayside/contract/services/terraform.ts'
import { type Action, phases, type RequestStatus, type State } from '@quayside/contract/states.ts'
import { idleStates, type StateEvent } from '@quayside/contract/transitions.ts'
import type { Sql } from '../database/index.ts'
import type { JobEvent } from '../jobs/index.ts'
import type { CommitJson } from '../releases/index.ts'
import { lockService, queuedStateOf, type ServiceRow, writeState } from '../services/index.ts'

/** A service of a request, and what the request does to it. */
export interface TargetRow {
  readonly request_id: string
  readonly service_id: string
  readonly kind: KindName
  readonly name: string
  readonly icon_uri: string
  readonly stage_name: string
  readonly stage_order: number
  readonly state: State
  readonly status: RequestStatus | 'SKIPPED'
  readonly wanted_commit: string | null
  /** The commit of the values of a chart. */
  readonly wanted_values: string | null
  /** The event of a job to run, instead of the one that its deployment runs. */
  readonly force_event: JobEvent | null
  readonly stack_action: StackAction | null
  /** The release to roll back to. */
  readonly wanted_release: string | null
  /** Whether the deployed version is deployed again. */
  readonly same_version: boolean
  readonly former_state: State
  readonly release_id: string | null
  readonly commit: CommitJson | null
  readonly reason: string | null
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

export interface WantedTarget {
  readonly service: Pick<ServiceRow, 'id' | 'kind' | 'name' | 'stage_id' | 'state'> & { settings: { icon_uri: string } }
  /** A full commit id. Undefined: the head of the branch when the request runs. */
  readonly commit: string | undefined
  /** The same for the repository with the values of a chart. */
  readonly valuesCommit?: string | undefined
  readonly forceEvent?: JobEvent | undefined
  readonly stackAction?: StackAction | undefined
  /** A release to roll back to, instead of a new one. */
  readonly release?: string
  /** Whether the commit or image is deployed again that is deployed when the request runs. */
  readonly sameVersion?: boolean
}

export const listTargets = (sql: Sql, requestIds: readonly string[]) =>
  sql<TargetRow[]>`
    select * from deployment_target where request_id = any(${[...requestIds]}::uuid[])
    order by stage_order, service_seq`

export const listStagesOfExecution = (sql: Sql, environmentId: string, execution: string) =>
  sql<{ service_id: string; id: string | null; name: string }[]>`
    select t.service_id, t.stage_id as id, t.stage_name as name from deployment_target t
    join deployment_request r on r.id = t.request_id
    where r.environment_id = ${environmentId} and r.execution_id = ${execution}`

export async function updateTarget(
  sql: Sql,
  target: Pick<TargetRow, 'request_id' | 'service_id'>,
  change: Partial<Omit<TargetRow, 'request_id' | 'service_id' | 'commit'>>,
): Promise<void> {
  await sql`
    update deployment_target set ${sql(change)}
    where request_id = ${target.request_id} and service_id = ${target.service_id}`
}

export async function setTargetCommit(
  sql: Sql,
  target: Pick<TargetRow, 'request_id' | 'service_id'>,
  commit: CommitJson,
): Promise<void> {
  await sql`
    update deployment_target set commit = ${sql.json({ ...commit })}
    where request_id = ${target.request_id} and service_id = ${target.service_id}`
}

/**
 * Moves a service to an intermediate state and changes its target. A target that is being cancelled
 * is unchanged. Must be called inside a step: a recipe that is repeated after a crash would
 * otherwise overwrite a final state.
 */
export const enterState = (
  sql: Sql,
  target: Pick<TargetRow, 'request_id' | 'service_id'>,
  state: State,
  change: Partial<Pick<TargetRow, 'release_id'>> = {},
): Promise<void> =>
  writeState(sql, {
    service: sql`select service_id from entered`,
    event: 'begun',
    to: state,
    beside: sql`entered as (
      update deployment_target set ${sql({ ...change, state })}
      where request_id = ${target.request_id} and service_id = ${target.service_id} and status <> 'CANCELING'
      returning service_id
    )`,
  })

/**
 * Sets the state of a service when a request is done with it. If another request waits, the state
 * shows that one at once. Waiting requests restore this state if they change nothing.
 */
export async function leaveService(
  sql: Sql,
  { service_id, request_id }: Pick<TargetRow, 'service_id' | 'request_id'>,
  { event, state }: { readonly event: StateEvent; readonly state: State },
): Promise<void> {
  // Acceptance takes this lock too, so no waiting request is missed.
  await lockService(sql, service_id)
  await writeState(sql, {
    service: service_id,
    event,
    to: state,
    next: sql`select ${queuedStateOf(sql, sql`action`)} from waiting order by seq limit 1`,
    beside: sql`waiting as (
      select r.id, r.action, r.seq from deployment_target t join deployment_request r on r.id = t.request_id
      where t.service_id = ${service_id} and r.status = 'QUEUED' and r.id <> ${request_id}
    ), told as (
      update deployment_target t set former_state = ${state} from waiting
      where t.request_id = waiting.id and t.service_id = ${service_id}
    )`,
  })
}

/** Marks a target as cancelled or cancelling. Returns false if it has ended meanwhile. */
export async function cancelTarget(
  sql: Sql,
  target: Pick<TargetRow, 'request_id' | 'service_id'>,
  state: 'CANCELED' | 'CANCELING',
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update deployment_target set state = ${state}, status = ${state}, finished_at = ${state === 'CANCELED' ? now : null}
    where request_id = ${target.request_id} and service_id = ${target.service_id} and finished_at is null`
  return count > 0
}

/**
 * Sets the state of a service whose waiting request was cancelled. Unless another request acts on
 * it or waits for it, it gets its previous state back if it does not run, and CANCELED otherwise.
 * Requests that would restore the queued state of the cancelled one restore that state instead.
 */
export async function leaveQueue(
  sql: Sql,
  { service_id, former_state }: Pick<TargetRow, 'service_id' | 'former_state'>,
): Promise<void> {
  const others = await sql<{ action: Action; waits: boolean; former_state: State }[]>`
    select r.action, r.status = 'QUEUED' as waits, t.former_state from deployment_target t
    join deployment_request r on r.id = t.request_id and r.status in ('QUEUED', 'ONGOING', 'CANCELING')
    where t.service_id = ${service_id} and t.finished_at is null order by r.seq limit 1`
  const [next] = others
  if (next && !next.waits) return
  // The first waiting request holds a state from before the queue.
  const former = queuedStates.includes(former_state) ? next?.former_state : former_state
  const left = former && idleStates.includes(former) ? former : 'CANCELED'
  const following = next && {
    next: sql`select ${phases[next.action].queued}::text`,
    beside: sql`restoring as (
      update deployment_target t set former_state = ${left} from deployment_request r
      where t.service_id = ${service_id} and r.id = t.request_id and r.status = 'QUEUED'
        and t.former_state = any(${[...queuedStates]}::text[])
    )`,
  }
  await writeState(sql, { service: service_id, event: 'cancelled', to: left, ...following })
}

const queuedStates: readonly State[] = Object.values(phases).map(({ queued }) => queued)
