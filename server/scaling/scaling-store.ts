import type { SettingValues } from '@quayside/contract/services/setting-table.ts'
import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'
import type { RouterScope } from '../routers/index.ts'
import type { Instances } from './replicas.ts'

/** A service whose release should run, with the facts that scaling needs. */
export interface RunningRow {
  readonly id: string
  readonly name: string
  readonly kind: string
  /** The engine of its cluster. */
  readonly engine: string | null
  readonly release_id: string
  /** The settings of the release. */
  readonly settings: Instances & { readonly cpu?: number; readonly memory?: number } & Readonly<Record<string, Json>>
  readonly advanced_settings: SettingValues
  /** Null if no number is stored. */
  readonly scale: number | null
  /** Whether a running request acts on it. */
  readonly busy: boolean
  /** Whether the router has a route to it. */
  readonly routed: boolean
  /** From its autoscaling policy. */
  readonly cooldown_period_seconds: number | null
}

/** Selects services. Absent conditions select all. */
export interface Selection {
  readonly id?: string
  /** The services of an engine's clusters. */
  readonly engine?: string
  /** The services of a router's clusters. */
  readonly scope?: RouterScope
  /** Only services that may sleep. */
  readonly mayWake?: boolean
}

/** Lists selected services whose release should run. */
export const listRunning = (sql: Sql, only: Selection = {}) =>
  sql<RunningRow[]>`
    select s.id, s.name, s.kind, k.engine, s.release_id, r.settings, r.advanced_settings, c.replicas as scale,
      p.cooldown_period_seconds,
      exists (select from route t where t.service_id = s.id and t.endpoints <> '[]') as routed,
      exists (
        select from deployment_request q join deployment_target t on t.request_id = q.id
        where q.environment_id = s.environment_id and q.status in ('ONGOING', 'CANCELING') and t.service_id = s.id
      ) as busy
    from service s join release r on r.id = s.release_id
      join environment e on e.id = s.environment_id join cluster k on k.id = e.cluster_id
      left join service_scale c on c.service_id = s.id
      left join autoscaling_policy p on p.service_id = s.id
    where ${only.id === undefined ? sql`true` : sql`s.id = ${only.id}`}
      and ${only.engine === undefined ? sql`true` : sql`k.engine = ${only.engine}`}
      and ${only.scope ? isServed(sql, only.scope) : sql`true`}
      and ${only.mayWake ? sql`r.min_running_instances = 0` : sql`true`}`

/**
 * Returns whether a running service on an engine may have more replicas under load. Most engines
 * have none, and the list of all their services is then not needed.
 */
export async function hasScaled(sql: Sql, engine: string): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`
    select exists (
      select from cluster k join environment e on e.cluster_id = k.id join service s on s.environment_id = e.id
        join release r on r.id = s.release_id
      where k.engine = ${engine}
        and (r.max_running_instances < 0 or r.max_running_instances > greatest(1, r.min_running_instances))
    ) as has`
  return row?.has ?? false
}

const isServed = (sql: Sql, { engines, isRest }: RouterScope) =>
  isRest ? sql`coalesce(k.engine <> all(${[...engines]}::text[]), true)` : sql`k.engine = any(${[...engines]}::text[])`

export async function putScale(sql: Sql, serviceId: string, replicas: number, now: Date): Promise<void> {
  await sql`
    insert into service_scale (service_id, replicas, changed_at) values (${serviceId}, ${replicas}, ${now})
    on conflict (service_id) do update set replicas = excluded.replicas, waking = false, changed_at =
    excluded.changed_at`
}

/** Returns the stored number of a service. Null if there is none. */
export async function findScale(sql: Sql, serviceId: string): Promise<number | null> {
  const [row] = await sql<{ replicas: number }[]>`select replicas from service_scale where service_id = ${serviceId}`
  return row?.replicas ?? null
}

/** Stores the names of replicas that are being ended from now on. An empty list ends that. */
export async function setLeaving(sql: Sql, serviceId: string, names: readonly string[]): Promise<void> {
  await sql`update service_scale set leaving = ${[...names]} where service_id = ${serviceId}`
}

export async function findLeaving(sql: Sql, serviceId: string): Promise<readonly string[]> {
  const [row] = await sql<{ leaving: string[] }[]>`select leaving from service_scale where service_id = ${serviceId}`
  return row?.leaving ?? []
}

/** Stores one replica for each of these services that is asleep. Returns the woken ones. */
export async function startWaking(sql: Sql, serviceIds: readonly string[], now: Date): Promise<string[]> {
  const rows = await sql<{ service_id: string }[]>`
    update service_scale set replicas = 1, waking = true, changed_at = ${now}
    where service_id = any(${[...serviceIds]}::uuid[]) and replicas = 0 returning service_id`
  return rows.map((row) => row.service_id)
}

/** For a service that is up, or could not be started. Returns true if it was waking. */
export async function endWaking(sql: Sql, serviceId: string): Promise<boolean> {
  const { count } = await sql`update service_scale set waking = false where service_id = ${serviceId} and waking`
  return count > 0
}

/** A service is awake after its deployment. */
export async function awaken(sql: Sql, serviceId: string): Promise<void> {
  await sql`delete from service_scale where service_id = ${serviceId} and (replicas = 0 or waking)`
}

/**
 * For a service that should no longer run: it starts again with the least number of its settings.
 */
export async function forgetScale(sql: Sql, serviceId: string): Promise<void> {
  await sql`delete from service_scale where service_id = ${serviceId}`
}
