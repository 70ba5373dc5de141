import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { Holding } from './workflow-store.ts'

// Every write names the fence and takes a lock that a take-over waits for, so it happens entirely
// before the take-over or not at all.

/** Names and results of the successful steps. */
export async function readEnded(sql: Sql, workflowId: string): Promise<Map<string, Json | undefined>> {
  const rows = await sql<{ name: string; result: string | null }[]>`
    select name, result::text as result from workflow_step where workflow_id = ${workflowId} and status = 'SUCCESS'`
  return new Map(rows.map(({ name, result }) => [name, parseResult(result)]))
}

/** The text to store. Undefined if the step returned nothing, which differs from `null`. */
export const formatResult = (result: Json | undefined): string | null => JSON.stringify(result) ?? null
export const parseResult = (text: string | null): Json | undefined => (text === null ? undefined : JSON.parse(text))

/**
 * Returns the seconds since the first start of the step, or undefined if the workflow is no longer
 * held. Does not wait for the disk: a start that a crash of PostgreSQL loses is recorded again when
 * the step runs again, and a later record of the same workflow is never kept without it.
 */
export async function begin(sql: Sql, held: Holding, name: string): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    with held as (
      select id from workflow
      where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share
    )
    insert into workflow_step as s (workflow_id, name, started_at)
    select id, ${name}, now() from held, set_config('synchronous_commit', 'off', true)
    on conflict (workflow_id, name) do update set finished_at = null, status = null, result = null, error = null
    returning extract(epoch from now() - s.started_at)::float8 as seconds`
  return row?.seconds
}

/**
 * Records a step that was not begun, or was begun by an earlier holder, because the workflow was
 * cancelled.
 */
export async function skip(sql: Sql, held: Holding, name: string): Promise<boolean> {
  const skipped = await sql`
    with held as (
      select id from workflow
      where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share
    )
    insert into workflow_step as s (workflow_id, name, started_at, finished_at, status)
    select id, ${name}, now(), now(), 'SKIP' from held
    on conflict (workflow_id, name) do update
      set finished_at = coalesce(s.finished_at, now()), status = coalesce(s.status, 'CANCEL')`
  return skipped.count === 1
}

/** Returns false if the workflow is no longer held. `isProgress`: resets the count of claims. */
export async function succeed(
  sql: Sql,
  held: Holding,
  step: { name: string; result: string | null; isProgress: boolean },
): Promise<boolean> {
  const guard = step.isProgress
    ? sql`update workflow set attempts = 0
        where id = ${held.id} and fence = ${held.fence} and state = 'running' returning id`
    : sql`select id from workflow
        where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share`
  const ended = await sql`
    with held as (${guard})
    update workflow_step s set finished_at = now(), status = 'SUCCESS', error = null, result =
    ${step.result}::text::jsonb
    where s.workflow_id = ${held.id} and s.name = ${step.name} and exists (select from held)`
  return ended.count === 1
}

/** Returns false if the workflow is no longer held. */
export async function fail(
  sql: Sql,
  held: Holding,
  step: { name: string; status: 'ERROR' | 'CANCEL'; error: string },
): Promise<boolean> {
  const ended = await sql`
    with held as (
      select id from workflow
      where id = ${held.id} and fence = ${held.fence} and state = 'running' for key share
    )
    update workflow_step s set finished_at = now(), status = ${step.status}, error = ${step.error}
    where s.workflow_id = ${held.id} and s.name = ${step.name} and exists (select from held)`
  return ended.count === 1
}
