import type { Origin } from '@quayside/contract/enums.ts'
import type { Action, RequestStatus } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'

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

/** Serialises everything that decides about an environment's requests. */
export async function lockEnvironment(sql: Sql, environmentId: string): Promise<{ deleting: boolean } | undefined> {
  const [row] = await sql<
    { deleting: boolean }[]
  >`select deleting from environment where id = ${environmentId} for update`
  return row
}

/**
 * The last waiting request, where it is of the same caller and action: a new one merges into it. Locked until the transaction
 * ends, so that it does not begin meanwhile, without what is merged into it.
 */
export async function findMergeable(
  sql: Sql,
  environmentId: string,
  caller: string,
  action: Action,
): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`
    select * from (select * from deployment_request where environment_id = ${environmentId} and status = 'QUEUED'
      order by seq desc limit 1 for update) last
    where caller = ${caller} and action = ${action}`
  return row
}

/** The number that the next request of the environment gets. */
export async function nextNumber(sql: Sql, environmentId: string): Promise<number> {
  const [row] = await sql<{ execution_id: string }[]>`
    select execution_id from deployment_request where environment_id = ${environmentId} order by seq desc limit 1`
  return Number(row?.execution_id.split('-').at(-1) ?? 0) + 1
}

export async function insertRequest(
  sql: Sql,
  row: Pick<RequestRow, 'id' | 'environment_id' | 'execution_id' | 'action' | 'origin' | 'triggered_by' | 'caller'>,
  now: Date,
): Promise<void> {
  await sql`
    insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller, created_at,
      updated_at)
    values (${row.id}, ${row.environment_id}, ${row.execution_id}, ${row.action}, ${row.origin}, ${row.triggered_by},
      ${row.caller}, ${now}, ${now})`
}

export async function findRequest(sql: Sql, id: string): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`select * from deployment_request where id = ${id}`
  return row
}

/** The requests that run or wait, in order. */
export const listActiveRequests = (sql: Sql, environmentId: string) =>
  sql<RequestRow[]>`
    select * from deployment_request
    where environment_id = ${environmentId} and status in ('QUEUED', 'ONGOING', 'CANCELING') order by seq`

export async function findLastRequest(sql: Sql, environmentId: string): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`
    select * from deployment_request where environment_id = ${environmentId} order by seq desc limit 1`
  return row
}

export async function findExecution(
  sql: Sql,
  environmentId: string,
  executionId: string,
): Promise<RequestRow | undefined> {
  const [row] = await sql<RequestRow[]>`
    select * from deployment_request where environment_id = ${environmentId} and execution_id = ${executionId}`
  return row
}

export async function setRequestStatus(sql: Sql, id: string, status: RequestStatus, now: Date): Promise<void> {
  const started = status === 'ONGOING' ? sql`, started_at = coalesce(started_at, ${now})` : sql``
  const ended = status === 'SUCCESS' || status === 'ERROR' || status === 'CANCELED'
  const finished = ended ? sql`, finished_at = coalesce(finished_at, ${now})` : sql``
  await sql`
    update deployment_request set status = ${status}, updated_at = ${now}${started}${finished} where id = ${id}`
}
