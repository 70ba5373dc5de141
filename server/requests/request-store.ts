import type { ClusterState, Origin } from '@quayside/contract/enums.ts'
import type { Action, RequestStatus, State } from '@quayside/contract/states.ts'
import type { Fragment, Sql } from '../database/index.ts'
import { enterQueue } from '../services/index.ts'
import { telling } from '../state-changes/index.ts'
import { type Place, startsSomething } from './restriction.ts'

export interface RequestRow {
  readonly id: string
  readonly environment_id: string
  readonly execution_id: string
  readonly action: Action
  readonly status: RequestStatus
  readonly origin: Origin
  readonly triggered_by: string
  readonly caller: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
}

/** Locks an environment. All decisions about its requests are made under this lock. */
export async function lockEnvironment(sql: Sql, environmentId: string): Promise<{ deleting: boolean } | undefined> {
  const [row] = await sql<
    { deleting: boolean }[]
  >`select deleting from environment where id = ${environmentId} for no key update`
  return row
}

/** What the acceptance of a request depends on, at one moment. */
export interface Situation {
  readonly deleting: boolean
  /** The last waiting request, if it has the same caller and action. A new one merges into it. */
  readonly waiting: Pick<RequestRow, 'id' | 'created_at'> | undefined
  /** The states of the existing services. */
  readonly states: Readonly<Record<string, State>>
  /** The services that a restore of a backup holds, with the id of the restore. */
  readonly restoring: Readonly<Record<string, string>>
  readonly at: Place
}

/** The states of a cluster on which nothing is started. */
const stopped: ClusterState[] = ['STOP_QUEUED', 'STOPPING', 'STOPPED']

/** Reads the situation of a request. Undefined if the environment is gone. */
export async function readSituation(
  sql: Sql,
  asked: { environmentId: string; services: readonly string[]; caller: string; action: Action },
): Promise<Situation | undefined> {
  const [row] = await sql<(Omit<Situation, 'waiting'> & { id: string | null; created_at: Date | null })[]>`
    select e.deleting, w.id, w.created_at, coalesce(s.states, '{}') as states, s.restoring,
      jsonb_build_object('cluster', c.name, 'hasEngine', c.engine is not null, 'isStopped', c.status = any(${stopped}),
        'isDemo', c.is_demo, 'restriction', o.billing_deployment_restriction) as at
    from environment e
    join cluster c on c.id = e.cluster_id join organization o on o.id = c.organization_id
    cross join (select jsonb_object_agg(id, state) as states,
        coalesce(jsonb_object_agg(id, restoring) filter (where restoring is not null), '{}') as restoring from service
      where id = any(${[...asked.services]}::uuid[])) s
    left join lateral (select * from deployment_request where environment_id = e.id and status = 'QUEUED'
      order by seq desc limit 1) w on w.caller = ${asked.caller} and w.action = ${asked.action}
        and not exists (select from deployment_target t where t.request_id = w.id
          and (t.force_event is not null or t.stack_action is not null))
    where e.id = ${asked.environmentId}`
  if (!row) return undefined
  const { id, created_at, deleting, states, restoring, at } = row
  return { deleting, states, restoring, at, waiting: id && created_at ? { id, created_at } : undefined }
}

/** A service of a request. */
export interface AcceptedTarget {
  readonly service_id: string
  readonly kind: string
  readonly name: string
  readonly icon_uri: string
  readonly wanted_commit: string | null
  readonly wanted_values: string | null
  readonly force_event: string | null
  readonly stack_action: string | null
  readonly wanted_release: string | null
  readonly same_version: boolean
}

export interface Acceptance {
  readonly request: Pick<
    RequestRow,
    'id' | 'environment_id' | 'action' | 'origin' | 'triggered_by' | 'caller' | 'created_at'
  >
  /**
   * `alone`: a new request, if none waits. `last`: a new one behind the waiting ones. `merged`: the
   * targets join a request that `holdWaiting` holds.
   */
  readonly place: 'alone' | 'last' | 'merged'
  readonly targets: readonly AcceptedTarget[]
  /** The states of a service that allow the request. */
  readonly allowed: readonly State[]
  /**
   * The state that services enter, except those in a `passing` state, which have work in progress.
   */
  readonly queued: State
  readonly passing: readonly State[]
  /** The restore that makes the request, or null. Services held by another restore are rejected. */
  readonly restore: string | null
  /** Inserts the workflow of the request if `accepted` has a row. */
  readonly submission: (sql: Sql, accepted: Fragment) => Fragment
  /** Inserts the audit entry if `accepted` has a row. */
  readonly record: ((sql: Sql, accepted: Fragment) => Fragment) | undefined
}

/**
 * Keeps a waiting request from starting until the transaction ends. Returns false if it has started
 * or ended already.
 */
export async function holdWaiting(sql: Sql, id: string): Promise<boolean> {
  const held = await sql`select from deployment_request where id = ${id} and status = 'QUEUED' for update`
  return held.length === 1
}

/**
 * Writes a request, its workflow, its targets and the new states of its services in one statement.
 * Returns the number of the request and the previous states. Writes nothing and returns undefined
 * if a state or the deletion of the environment forbids the request, if another request waits, or
 * if another one was accepted during the wait for the lock. The counter of the environment, which
 * every request increments, shows the last case.
 */
export async function writeRequest(sql: Sql, acceptance: Acceptance): Promise<WrittenRequest | undefined> {
  const { request, place, targets, allowed, queued, passing, restore, submission, record } = acceptance
  if (targets.length === 0) throw new Error('a request without a service')
  const environmentId = request.environment_id
  const nothingWaits = sql`
        and not exists (select from deployment_request where environment_id = ${environmentId} and status = 'QUEUED')`
  // In all other cases `placeRefusal` decides, under the lock of the environment.
  const isOrdinary = startsSomething(request.action)
    ? sql`
        and exists (select from cluster c join organization o on o.id = c.organization_id
          where c.id = environment.cluster_id and c.engine is not null and c.status <> all(${stopped})
            and o.billing_deployment_restriction is null)`
    : sql``
  // The planner assumes a hundred rows for a list, and would scan whole tables.
  const fewRows = targets.length === 1 ? sql`limit 1` : sql``
  const newRequest = sql`
    submitted as (
      ${submission(sql, sql`accepted`)}
    ), requested as (
      insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller,
      created_at,
        updated_at)
      select ${request.id}, ${environmentId}, ${environmentId} || '-' || request_number, ${request.action},
        ${request.origin}, ${request.triggered_by}, ${request.caller}, ${request.created_at}, ${request.created_at}
      from accepted
    ),`
  const asRequested = sql`
      select 'deployment.status' as type, jsonb_build_object('deployment_request_id', ${request.id}::uuid,
      'execution_id',
        ${environmentId} || '-' || request_number, 'action', ${request.action}::text, 'status', 'QUEUED') as data
      from accepted union all`
  const recorded = record ? sql`recorded as (${record(sql, sql`accepted`)}),` : sql``
  const told = telling(
    sql,
    environmentId,
    sql`
      ${place === 'merged' ? sql`` : asRequested}
      select 'service.state' as type,
        jsonb_build_object('service_id', service_id, 'kind', kind, 'state', ${queued}::text) as data
      from chosen where former_state <> all(${[...passing]}::text[])`,
  )
  const newerWish = sql`on conflict (request_id, service_id) do update set wanted_commit = excluded.wanted_commit,
    wanted_values = excluded.wanted_values,
    wanted_release = excluded.wanted_release, force_event = excluded.force_event, same_version = excluded.same_version,
    stack_action = excluded.stack_action`
  const written = await sql<{ request_number: number; service_id: string; former_state: State }[]>`
    with numbered as (
      update environment set request_number = request_number + 1
      where id = ${environmentId} and not (deleting and ${request.action} <> 'DELETE')
        and request_number = (select request_number from environment where id = ${environmentId})
        ${place === 'alone' ? sql`${nothingWaits}${isOrdinary}` : sql``}
      returning request_number
    ), held as (
      select w.*, s.state as former_state, g.id as stage_id, g.name as stage_name, g.deployment_order as
      stage_order, n.request_number
      from numbered n
        cross join (select * from jsonb_to_recordset(${sql.json(targets.map((target) => ({ ...target })))}) as t(
          service_id uuid, kind text, name text, icon_uri text, wanted_commit text, wanted_values text,
          force_event text,
          stack_action text, wanted_release uuid, same_version boolean) ${fewRows}) w
        join service s on s.id = w.service_id and s.state = any(${[...allowed]}::text[])
          and (s.restoring is null or s.restoring = ${restore})
        join deployment_stage g on g.id = s.stage_id
      for no key update of s
    ), chosen as (
      select * from held where (select count(*) from held) = ${targets.length}
    ), accepted as (
      select request_number from chosen limit 1
    ), ${place === 'merged' ? sql`` : newRequest} ${recorded} told as (${told}), targeted as (
      insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_id, stage_name,
      stage_order, state,
        wanted_commit, wanted_values, force_event, stack_action, wanted_release, same_version, former_state)
      select ${request.id}, service_id, kind, name, icon_uri, stage_id, stage_name, stage_order, ${queued},
      wanted_commit, wanted_values,
        force_event, stack_action, wanted_release, same_version, former_state
      from chosen
      ${place === 'merged' ? newerWish : sql``}
    ), entered as (
      ${enterQueue(sql, queued, sql`select service_id as id, former_state from chosen`)}
    )
    select request_number, service_id, former_state from chosen`
  const number = written[0]?.request_number
  if (number === undefined) return undefined
  return { number, formerStates: new Map(written.map((row) => [row.service_id, row.former_state])) }
}

export interface WrittenRequest {
  readonly number: number
  readonly formerStates: ReadonlyMap<string, State>
}

export async function findRequest(sql: Sql, id: string): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`select * from deployment_request where id = ${id}`
  return row
}

/** Returns the running and waiting requests in order. */
export const listActiveRequests = (sql: Sql, environmentId: string) =>
  sql<RequestRow[]>`
    select * from deployment_request
    where environment_id = ${environmentId} and status in ('QUEUED', 'ONGOING', 'CANCELING') order by seq`

/** Returns and locks all active requests, or one by its id. None ends before the transaction. */
export const lockActiveRequests = (sql: Sql, environmentId: string, id?: string) =>
  sql<RequestRow[]>`
    select * from deployment_request
    where environment_id = ${environmentId} and status in ('QUEUED', 'ONGOING', 'CANCELING')
      and (${id ?? null}::uuid is null or id = ${id ?? null})
    order by seq for no key update`

/** Returns a fragment that selects the ids of all active requests. */
export const unfinishedRequests = (sql: Sql): Fragment =>
  sql`select id from deployment_request where status in ('QUEUED', 'ONGOING', 'CANCELING')`

/**
 * Returns a fragment that selects the waiting requests for a service whose data are being copied,
 * as source or as destination. A deletion does not wait.
 */
export const heldByCopies = (sql: Sql): Fragment => sql`
  select r.id from service c
    left join copy_record k on k.id in (c.id, c.environment_id) and k.status = 'ONGOING'
    cross join lateral (values (c.id), (case when k.id is not null then c.copying end)) as involved (service_id)
    join deployment_target t on t.service_id = involved.service_id and t.finished_at is null
    join deployment_request r on r.id = t.request_id and r.status = 'QUEUED' and r.action <> 'DELETE'
  where c.copying is not null`

export async function setRequestStatus(sql: Sql, id: string, status: RequestStatus, now: Date): Promise<void> {
  const started = status === 'ONGOING' ? sql`, started_at = coalesce(started_at, ${now})` : sql``
  const ended = status === 'SUCCESS' || status === 'ERROR' || status === 'CANCELED'
  const finished = ended ? sql`, finished_at = coalesce(finished_at, ${now})` : sql``
  await sql`
    update deployment_request set status = ${status}, updated_at = ${now}${started}${finished} where id = ${id}`
}
