import type { Sql } from '../database/index.ts'
import { type PortEndpoint, touchRoutes } from './route-store.ts'

/** Requests and failures that each router process counted, by its id. */
export type CanaryCounts = Readonly<Record<string, { readonly requests: number; readonly failed: number }>>

/** A new version that gets a share of the requests of its service. */
export interface CanaryRow {
  readonly service_id: string
  readonly request_id: string
  readonly release_id: string
  readonly percent: number
  /** The percentages of all steps. */
  readonly steps: readonly number[]
  readonly step_seconds: number
  readonly max_error_percent: number
  /** Whether a person ended the steps. */
  readonly is_promoted: boolean
  readonly endpoints: readonly Pick<PortEndpoint, 'address' | 'port'>[]
  /** The current step, from 0. */
  readonly step: number
  readonly step_started_at: Date
  readonly counts: CanaryCounts
  /** The sums of the counts when the step began. */
  readonly requests_before: number
  readonly failed_before: number
}

type StoredCanary = CanaryRow & { readonly requests_before: unknown; readonly failed_before: unknown }

const toCanary = (row: StoredCanary | undefined): CanaryRow | undefined =>
  row && { ...row, requests_before: Number(row.requests_before), failed_before: Number(row.failed_before) }

/** Returns the new version that a request tries out. Undefined if there is none. */
export async function findCanary(sql: Sql, serviceId: string, requestId: string): Promise<CanaryRow | undefined> {
  const [row] = await sql<StoredCanary[]>`
    select * from canary where service_id = ${serviceId} and request_id = ${requestId}`
  return toCanary(row)
}

/** A condition: the request of the row `y` still runs. */
const isRunning = (sql: Sql) =>
  sql`exists (select from deployment_request q where q.id = y.request_id and q.status = 'ONGOING')`

/** Returns the new version of a service that is in a step now. */
export async function findRunningCanary(sql: Sql, serviceId: string): Promise<CanaryRow | undefined> {
  const [row] = await sql<StoredCanary[]>`
    select y.* from canary y where y.service_id = ${serviceId} and y.endpoints <> '[]' and ${isRunning(sql)}`
  return toCanary(row)
}

/** Ends the steps of a new version. Returns false if it is in none. */
export async function promoteCanary(sql: Sql, serviceId: string): Promise<boolean> {
  const { count } = await sql`
    update canary y set is_promoted = true
    where y.service_id = ${serviceId} and y.endpoints <> '[]' and ${isRunning(sql)}`
  return count > 0
}

/** Stores the new version of a service, in place of an earlier one. */
export async function putCanary(sql: Sql, { endpoints, counts, steps, ...row }: CanaryRow): Promise<void> {
  const lists = { endpoints: sql.json(plain(endpoints)), counts: sql.json(counts), steps: sql.json([...steps]) }
  const rows = [{ ...row, ...lists }]
  await sql`
    insert into canary ${sql(rows)} on conflict (service_id) do update set percent = excluded.percent,
      request_id = excluded.request_id, release_id = excluded.release_id, endpoints = excluded.endpoints,
      step = excluded.step,
      step_started_at = excluded.step_started_at, counts = excluded.counts,
      steps = excluded.steps, step_seconds = excluded.step_seconds,
      max_error_percent = excluded.max_error_percent, is_promoted = excluded.is_promoted,
      requests_before = excluded.requests_before, failed_before = excluded.failed_before`
  await touchRoutes(sql)
}

/** Replaces the endpoints of a new version. Without any, it gets no requests. */
export async function setCanaryEndpoints(
  sql: Sql,
  serviceId: string,
  endpoints: CanaryRow['endpoints'],
): Promise<void> {
  await sql`update canary set endpoints = ${sql.json(plain(endpoints))} where service_id = ${serviceId}`
  await touchRoutes(sql)
}

export const setCanaryCounts = async (sql: Sql, serviceId: string, counts: CanaryCounts): Promise<void> =>
  void (await sql`update canary set counts = ${sql.json(counts)} where service_id = ${serviceId}`)

/** Forgets the new version of a service. It gets no share of its own from now on. */
export async function deleteCanary(sql: Sql, serviceId: string): Promise<void> {
  const { count } = await sql`delete from canary where service_id = ${serviceId}`
  if (count > 0) await touchRoutes(sql)
}

const plain = (endpoints: CanaryRow['endpoints']) => endpoints.map(({ address, port }) => ({ address, port }))
