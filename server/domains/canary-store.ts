import type { Sql } from '../database/index.ts'
import { type PortEndpoint, touchRoutes } from './route-store.ts'

/** Requests to a new version, and how they ended. */
export interface CanaryOutcomes {
  readonly requests: number
  readonly failed: number
  /** The ones that did not fail, but whose response began too late. */
  readonly slow: number
}

/** The numbers of each router process, by its id. */
export type CanaryCounts = Readonly<Record<string, CanaryOutcomes>>

/** As they are stored. An earlier version of the platform counted none as slow. */
type StoredCounts = Readonly<Record<string, Omit<CanaryOutcomes, 'slow'> & Partial<CanaryOutcomes>>>

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
  /** A response that begins later is slow. Null: none is. */
  readonly max_latency_ms: number | null
  readonly max_slow_percent: number
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
  readonly slow_before: number
}

type Before = 'requests_before' | 'failed_before' | 'slow_before'
/** PostgreSQL returns large numbers as texts. */
type StoredCanary = Omit<CanaryRow, Before | 'counts'> &
  Readonly<Record<Before, unknown>> & { readonly counts: StoredCounts }

const toCanary = (row: StoredCanary | undefined): CanaryRow | undefined =>
  row && {
    ...row,
    counts: Object.fromEntries(Object.entries(row.counts).map(([source, one]) => [source, { slow: 0, ...one }])),
    requests_before: Number(row.requests_before),
    failed_before: Number(row.failed_before),
    slow_before: Number(row.slow_before),
  }

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
  const lists = {
    endpoints: sql.json(plain(endpoints)),
    counts: sql.json(plainCounts(counts)),
    steps: sql.json([...steps]),
  }
  const rows = [{ ...row, ...lists }]
  await sql`
    insert into canary ${sql(rows)} on conflict (service_id) do update set percent = excluded.percent,
      request_id = excluded.request_id, release_id = excluded.release_id, endpoints = excluded.endpoints,
      step = excluded.step,
      step_started_at = excluded.step_started_at, counts = excluded.counts,
      steps = excluded.steps, step_seconds = excluded.step_seconds,
      max_error_percent = excluded.max_error_percent, max_latency_ms = excluded.max_latency_ms,
      max_slow_percent = excluded.max_slow_percent, is_promoted = excluded.is_promoted,
      requests_before = excluded.requests_before, failed_before = excluded.failed_before,
      slow_before = excluded.slow_before`
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
  void (await sql`update canary set counts = ${sql.json(plainCounts(counts))} where service_id = ${serviceId}`)

/** Forgets the new version of a service. It gets no share of its own from now on. */
export async function deleteCanary(sql: Sql, serviceId: string): Promise<void> {
  const { count } = await sql`delete from canary where service_id = ${serviceId}`
  if (count > 0) await touchRoutes(sql)
}

const plain = (endpoints: CanaryRow['endpoints']) => endpoints.map(({ address, port }) => ({ address, port }))

/** Counts in a form that PostgreSQL's client accepts as JSON. */
const plainCounts = (counts: CanaryCounts) =>
  Object.fromEntries(Object.entries(counts).map(([source, one]) => [source, { ...one }]))
