import type { Sql } from '../database/index.ts'
import type { Json } from '../lib/json.ts'

/** A scaler as stored: times are strings inside JSON. */
export interface StoredScaler {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
  readonly scaler_type: string
  readonly enabled: boolean
  readonly role: 'PRIMARY' | 'SAFETY'
  readonly config_json: Readonly<Record<string, unknown>> | null
  readonly config_yaml: string | null
  readonly trigger_authentication: {
    readonly id: string
    readonly created_at: string
    readonly updated_at: string
    readonly name: string
    readonly config_yaml: string
    /** What the YAML says. */
    readonly values?: Readonly<Record<string, unknown>>
  } | null
  /** What the configuration says. Absent from rows of earlier versions. */
  readonly values?: Readonly<Record<string, unknown>>
}

export interface PolicyRow {
  readonly id: string
  readonly service_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly mode: 'KEDA'
  readonly polling_interval_seconds: number
  readonly cooldown_period_seconds: number
  readonly scalers: readonly StoredScaler[]
}

/** Returns the policies of all these services with one query. */
export const listPolicies = (sql: Sql, serviceIds: readonly string[]) =>
  sql<(PolicyRow & { readonly organization_id: string })[]>`
    select a.*, p.organization_id from autoscaling_policy a join service s on s.id = a.service_id
      join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    where a.service_id = any(${[...serviceIds]}::uuid[])`

export async function findPolicy(sql: Sql, serviceId: string): Promise<PolicyRow | undefined> {
  const [row] = await sql<PolicyRow[]>`select * from autoscaling_policy where service_id = ${serviceId}`
  return row
}

/** The cluster of a service, as far as its policy depends on it. */
export async function findPolicyPlace(sql: Sql, serviceId: string) {
  const [row] = await sql<{ name: string; engine: string | null }[]>`
    select k.name, k.engine from service s join environment e on e.id = s.environment_id
      join cluster k on k.id = e.cluster_id where s.id = ${serviceId}`
  if (!row) throw new Error(`service ${serviceId} is gone`)
  return row
}

/** Creates the policy of a service or replaces it. */
export async function putPolicy(sql: Sql, row: PolicyRow): Promise<void> {
  const { id, service_id, created_at, updated_at, mode, polling_interval_seconds, cooldown_period_seconds } = row
  // Scalers contain only JSON; the library's JSON type does not accept interfaces.
  const scalers = sql.json(row.scalers as unknown as Exclude<Json, undefined>)
  await sql`
    insert into autoscaling_policy (id, service_id, created_at, updated_at, mode, polling_interval_seconds,
      cooldown_period_seconds, scalers)
    values (${id}, ${service_id}, ${created_at}, ${updated_at}, ${mode}, ${polling_interval_seconds},
      ${cooldown_period_seconds}, ${scalers})
    on conflict (service_id) do update set updated_at = excluded.updated_at, mode = excluded.mode,
      polling_interval_seconds = excluded.polling_interval_seconds,
      cooldown_period_seconds = excluded.cooldown_period_seconds, scalers = excluded.scalers`
}

export async function deletePolicy(sql: Sql, serviceId: string): Promise<void> {
  await sql`delete from autoscaling_policy where service_id = ${serviceId}`
}
