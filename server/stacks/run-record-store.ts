import type { StackRunAction, StackRunStatus } from '@quayside/contract/services/stack-records.ts'
import type { Sql } from '../database/index.ts'
import type { PlanSummary } from './plan-summary.ts'

/** A run as the API lists it. */
export interface RunRecord {
  readonly id: string
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly action: StackRunAction
  readonly status: StackRunStatus
  readonly reason: string | null
  readonly execution_id: string | null
  readonly counts: PlanSummary['counts'] | null
  readonly drifted: number | null
}

/** Runs that a list shows. */
const mostRuns = 100

const columns = (sql: Sql) => sql`
  r.id, r.created_at, r.finished_at, r.action, r.status, r.reason, q.execution_id, r.plan -> 'counts' as counts,
  jsonb_array_length(r.plan -> 'drift') as drifted`
const fromRuns = (sql: Sql) => sql`from stack_run r left join deployment_request q on q.id = r.request_id`

/** Lists the runs of a stack, newest first. With `action`, only its runs. */
export const listRuns = (sql: Sql, serviceId: string, action?: StackRunAction) => sql<RunRecord[]>`
  select ${columns(sql)} ${fromRuns(sql)}
  where r.service_id = ${serviceId} and (${action === undefined} or r.action = ${action ?? ''})
  order by r.created_at desc, r.id desc limit ${mostRuns}`

/** Returns a run of a stack with its plan. Undefined if the stack has no such run. */
export async function findRunWithPlan(
  sql: Sql,
  { serviceId, runId }: { readonly serviceId: string; readonly runId: string },
): Promise<(RunRecord & { readonly plan: PlanSummary | null }) | undefined> {
  const [row] = await sql<(RunRecord & { readonly plan: PlanSummary | null })[]>`
    select ${columns(sql)}, r.plan ${fromRuns(sql)} where r.id = ${runId} and r.service_id = ${serviceId}`
  return row
}

/** A plan of a run that made one to apply. */
export interface OpenPlan extends RunRecord {
  readonly service_id: string
  readonly release_id: string | null
  readonly plan: PlanSummary
  readonly commit: string | null
  /** The run that has changed the state of the stack since the plan was made. */
  readonly changed_by: { readonly id: string; readonly action: StackRunAction } | null
  /** Whether the plan itself is kept, so that it can be applied. */
  readonly is_kept: boolean
}

/** A run that changed a state, as a condition on `c`. */
const changedState = (sql: Sql) => sql`
  (c.is_applying or c.action = 'RESTORE_STATE' or (c.action = 'MIGRATE_STATE' and c.status = 'SUCCESS'))`

const planColumns = (sql: Sql) => sql`
  r.service_id, r.release_id, ${columns(sql)}, r.plan, l.commit ->> 'id' as commit,
  r.sealed_plan is not null as is_kept,
  (select jsonb_build_object('id', c.id, 'action', c.action) from stack_run c
    where c.service_id = r.service_id and (c.created_at, c.id) >= (r.created_at, r.id) and ${changedState(sql)}
    order by c.created_at desc, c.id desc limit 1) as changed_by`
const fromPlans = (sql: Sql) => sql`${fromRuns(sql)} left join release l on l.id = r.release_id`

/** Returns the newest plan of each of these stacks that is not one to destroy. */
export const listLastPlans = (sql: Sql, serviceIds: readonly string[]) => sql<OpenPlan[]>`
  select distinct on (r.service_id) ${planColumns(sql)} ${fromPlans(sql)}
  where r.service_id = any(${[...serviceIds]}::uuid[]) and r.plan is not null and r.action in ('PLAN', 'APPLY')
  order by r.service_id, r.created_at desc, r.id desc`

/** Returns the plan of a run with the action PLAN, which is named by its id or by its version. */
export async function findPlan(
  sql: Sql,
  {
    serviceId,
    ...named
  }: { readonly serviceId: string } & ({ readonly runId: string } | { readonly releaseId: string }),
): Promise<OpenPlan | undefined> {
  const isNamed = 'runId' in named ? sql`r.id = ${named.runId}` : sql`r.release_id = ${named.releaseId}`
  const [row] = await sql<OpenPlan[]>`
    select ${planColumns(sql)} ${fromPlans(sql)}
    where r.service_id = ${serviceId} and ${isNamed} and r.plan is not null and r.action = 'PLAN'`
  return row
}

/** Ended runs that a stack keeps: as many that changed something, and as many that only planned. */
const keptRuns = 100

/** Deletes the oldest ended runs of a stack. */
export async function forgetRuns(sql: Sql, serviceId: string): Promise<void> {
  await sql`
    delete from stack_run where id in (
      select id from (
        select id,
          row_number() over (partition by action in ('PLAN', 'DRIFT') order by created_at desc, id desc) as place
        from stack_run where service_id = ${serviceId} and status not in ('RUNNING', 'LOST')) ended
      where place > ${keptRuns})`
}
