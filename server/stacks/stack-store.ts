import type { StackRunAction as StackAction, StackRunStatus } from '@quayside/contract/services/stack-records.ts'
import type { Sql } from '../database/index.ts'
import type { PlanSummary } from './plan-summary.ts'
import type { PackedResource, StackResource } from './read-result.ts'

export type { StackRunAction as StackAction } from '@quayside/contract/services/stack-records.ts'

/** One run of a stack: its plan and, unless only that was requested, the apply of the plan. */
export interface StackRunRow {
  readonly id: string
  readonly service_id: string
  /** Null if it ran no version. */
  readonly release_id: string | null
  readonly request_id: string | null
  readonly action: StackAction
  readonly status: StackRunStatus
  readonly created_at: Date
  readonly updated_at: Date
  readonly finished_at: Date | null
  readonly reason: string | null
  readonly plan: PlanSummary | null
  readonly sealed_plan: string | null
  /** Whether the apply may have begun. */
  readonly is_applying: boolean
  /** Where its state is. Null if it uses none. */
  readonly backend: Backend | null
}
export type Backend = 'kubernetes' | 'user_provided'

/** Returns false if another run has the lock of the stack. A repetition finds its own run. */
export async function insertStackRun(
  sql: Sql,
  { id, service_id, release_id, request_id, action, created_at, backend }: Omit<StackRunRow, StackRunEnd>,
): Promise<boolean> {
  await sql`
    insert into stack_run (id, service_id, release_id, request_id, action, created_at, updated_at, backend)
    values (${id}, ${service_id}, ${release_id}, ${request_id}, ${action}, ${created_at}, ${created_at}, ${backend})
    on conflict do nothing`
  return (await findStackRun(sql, id)) !== undefined
}
type StackRunEnd = 'status' | 'updated_at' | 'finished_at' | 'reason' | 'plan' | 'sealed_plan' | 'is_applying'

export async function findStackRun(sql: Sql, id: string): Promise<StackRunRow | undefined> {
  const [row] = await sql<StackRunRow[]>`select * from stack_run where id = ${id}`
  return row
}

/**
 * Returns where the state of a stack is, as its last run left it. Undefined if it has none: it was
 * never applied, or is destroyed.
 */
export async function findBackend(sql: Sql, serviceId: string): Promise<Backend | undefined> {
  const [row] = await sql<Pick<StackRunRow, 'backend' | 'action' | 'status'>[]>`
    select backend, action, status from stack_run
    where service_id = ${serviceId} and backend is not null
      and (is_applying or (status = 'SUCCESS' and action in ('APPLY', 'DESTROY', 'MIGRATE_STATE')))
    order by created_at desc, id desc limit 1`
  if (row?.action === 'DESTROY' && row.status === 'SUCCESS') return undefined
  return row?.backend ?? undefined
}

/** Returns the run that has the lock of a stack. */
export async function findLock(sql: Sql, serviceId: string): Promise<StackRunRow | undefined> {
  const [row] = await sql<StackRunRow[]>`
    select * from stack_run where service_id = ${serviceId} and status in ('RUNNING', 'LOST')`
  return row
}

/** Lists the runs of a request that have not ended. */
export const findUnfinishedRuns = (sql: Sql, serviceId: string, requestId: string) =>
  sql<StackRunRow[]>`
    select * from stack_run
    where service_id = ${serviceId} and request_id = ${requestId} and status = 'RUNNING'`

/** Of these ids, returns those of runs that have not ended, or ended after that moment. */
export async function heldRuns(sql: Sql, ids: readonly string[], after: Date): Promise<ReadonlySet<string>> {
  const rows = await sql<{ id: string }[]>`
    select id from stack_run
    where id = any(${[...ids]}::uuid[]) and (status = 'RUNNING' or updated_at > ${after})`
  return new Set(rows.map(({ id }) => id))
}

export async function setPlan(
  sql: Sql,
  id: string,
  { plan, sealed, now }: { readonly plan: PlanSummary; readonly sealed: string; readonly now: Date },
): Promise<void> {
  await sql`
    update stack_run set plan = ${sql.json(plan)}, sealed_plan = ${sealed}, updated_at = ${now} where id = ${id}`
}

/**
 * Records that the apply of a run may begin at any moment. Other plans of the stack are of a state
 * that it replaces.
 */
export async function markApplying(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`
    with applying as (
      update stack_run set is_applying = true, updated_at = ${now} where id = ${id} returning service_id
    )
    update stack_run r set sealed_plan = null from applying a
    where r.service_id = a.service_id and r.id <> ${id} and r.sealed_plan is not null`
}

/** Releases the lock that an earlier request has left. Returns false if there is none. */
export async function releaseLock(sql: Sql, serviceId: string, now: Date): Promise<boolean> {
  const released = await sql`
    update stack_run set status = 'ERROR', updated_at = ${now}, sealed_plan = null
    where service_id = ${serviceId} and status in ('RUNNING', 'LOST')`
  return released.count > 0
}

/** Records that the state of a run is lost, which keeps the lock of its stack. */
export async function loseRun(sql: Sql, id: string, reason: string, now: Date): Promise<void> {
  await sql`
    update stack_run set status = 'LOST', reason = ${reason}, finished_at = ${now}, updated_at = ${now},
      sealed_plan = null
    where id = ${id} and status = 'RUNNING'`
}

/**
 * Ends a run that an earlier request has left. If its apply may have begun, its state is lost, and
 * it keeps the lock.
 */
export async function endStaleRun(
  sql: Sql,
  { service_id, request_id }: { readonly service_id: string; readonly request_id: string },
  now: Date,
): Promise<void> {
  await sql`
    update stack_run set
      status = case when is_applying then 'LOST' when action = 'DRIFT' then 'CANCELED' else 'ERROR' end,
      reason = case when action = 'DRIFT' then 'A deployment took its place.' else 'Its request ended without it.' end,
      finished_at = ${now}, updated_at = ${now}, sealed_plan = null
    where service_id = ${service_id} and status = 'RUNNING' and request_id is distinct from ${request_id}`
}

/**
 * Writes the end once. Forgets the plan itself, which may contain secrets, unless a later request
 * may apply it. A stack keeps its newest plan.
 */
export async function endStackRun(
  sql: Sql,
  id: string,
  { status, reason, now }: { readonly status: StackRunStatus; readonly reason: string | null; readonly now: Date },
): Promise<void> {
  await sql`
    with ended as (
      update stack_run set status = ${status}, reason = ${reason}, finished_at = ${now}, updated_at = ${now},
        sealed_plan = case when action = 'PLAN' and ${status} = 'SUCCESS' then sealed_plan end
      where id = ${id} and status = 'RUNNING' returning service_id, sealed_plan
    )
    update stack_run r set sealed_plan = null from ended e
    where r.service_id = e.service_id and e.sealed_plan is not null and r.id <> ${id} and r.sealed_plan is not null`
}

/** Replaces the resources of a stack. */
export async function replaceResources(
  sql: Sql,
  serviceId: string,
  resources: readonly (PackedResource & { readonly id: string })[],
  now: Date,
): Promise<void> {
  await sql`delete from stack_resource where service_id = ${serviceId}`
  if (resources.length === 0) return
  const rows = resources.map((resource) => ({ ...resource, service_id: serviceId, extracted_at: now.toISOString() }))
  await sql`
    insert into stack_resource
    select populated.* from jsonb_array_elements(${sql.json(rows as never)}) as one
    cross join jsonb_populate_record(
      null::stack_resource, one || jsonb_build_object('attributes', (one->>'attributes')::jsonb)
    ) as populated`
}

/** Lists the resources of the last apply, by address. */
export const listResources = (sql: Sql, serviceId: string) =>
  sql<(StackResource & { readonly id: string; readonly extracted_at: Date })[]>`
    select id, resource_type, name, address, provider, mode, attributes, extracted_at
    from stack_resource where service_id = ${serviceId} order by address`
