import type { State } from '@quayside/contract/states.ts'
import type { Fragment, Sql } from '../database/index.ts'
import { parseId } from '../lib/id.ts'
import type { RequestRow } from './request-store.ts'

/** The progress of a request with each of its services. Times read from JSON are strings. */
export interface RequestProgress {
  readonly targets: readonly { readonly state: State; readonly finished_at: Date | string | null }[]
}

/** Returns a fragment for the targets of the request `r` as a column. */
export const requestTargets = (sql: Sql): Fragment => sql`
  coalesce((select jsonb_agg(jsonb_build_object('state', t.state, 'finished_at', t.finished_at) order by t.service_seq)
    from deployment_target t where t.request_id = r.id), '[]')`

/** Returns the newest request of the environment; undefined before the first. */
export async function findLastRequest(
  sql: Sql,
  environmentId: string,
): Promise<(RequestRow & RequestProgress) | undefined> {
  const [row] = await sql<(RequestRow & RequestProgress)[]>`
    select r.*, ${requestTargets(sql)} as targets
    from deployment_request r where environment_id = ${environmentId} order by seq desc limit 1`
  return row
}

/** Finds a request by its execution id or by its own id. The history of an environment has both. */
export async function findExecution(
  sql: Sql,
  environmentId: string,
  version: string,
): Promise<(RequestRow & RequestProgress) | undefined> {
  const [row] = await sql<(RequestRow & RequestProgress)[]>`
    select r.*, ${requestTargets(sql)} as targets from deployment_request r where environment_id = ${environmentId}
      and (execution_id = ${version} or id = ${parseId(version) ?? null}::uuid)`
  return row
}

/**
 * Returns which of these executions have not ended, have ended since a time, or are among the
 * `newest` requests of their environment.
 */
export async function listRecent(
  sql: Sql,
  {
    executions,
    before,
    newest,
  }: { readonly executions: readonly string[]; readonly before: Date; readonly newest: number },
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ execution_id: string }[]>`
    select r.execution_id from deployment_request r where r.execution_id = any(${[...executions]}::text[])
      and (r.finished_at is null or r.finished_at >= ${before} or ${newest} > (select count(*) from (
        select from deployment_request later where later.environment_id = r.environment_id and later.seq > r.seq
        limit ${newest}) as newer))`
  return new Set(rows.map(({ execution_id }) => execution_id))
}
