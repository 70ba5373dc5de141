import type { Static } from '@quayside/contract'
import type { Autoscaling, AutoscalingRequest } from '@quayside/contract/resources/autoscaling.ts'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import {
  deletePolicy,
  findPolicy,
  listPolicies,
  type PolicyRow,
  putPolicy,
  type StoredScaler,
} from './autoscaling-store.ts'
import { firstYamlProblem } from './check-yaml.ts'

export type AutoscalingBody = Static<typeof AutoscalingRequest>
export type AutoscalingRecord = Static<typeof Autoscaling>
type ScalerBody = AutoscalingBody['scalers'][number]

const defaults = { polling_interval_seconds: 30, cooldown_period_seconds: 300 }
const longestJson = 16_384

/** Checks rules beyond the form of single fields. Throws 400 that names the field. */
export async function checkAutoscaling({ scalers }: AutoscalingBody): Promise<void> {
  if (scalers.length === 0) refuse('autoscaling.scalers must have at least 1 entry')
  if (!scalers.some(({ role }) => role === 'PRIMARY')) refuse('autoscaling.scalers must have one of the role PRIMARY')
  for (const [index, scaler] of scalers.entries()) checkScaler(`autoscaling.scalers[${index}]`, scaler)
  const texts = scalers.flatMap(({ config_yaml, trigger_authentication: trigger }, index) => [
    { field: `autoscaling.scalers[${index}].config_yaml`, text: config_yaml },
    { field: `autoscaling.scalers[${index}].trigger_authentication.config_yaml`, text: trigger?.config_yaml },
  ])
  const problem = await firstYamlProblem(texts.flatMap(({ field, text }) => (text ? [{ field, text }] : [])))
  if (problem !== undefined) refuse(problem)
}

function checkScaler(field: string, { config_json, config_yaml }: ScalerBody): void {
  if (!config_json && !config_yaml) refuse(`${field} must have config_json or config_yaml`)
  if (config_json && JSON.stringify(config_json).length > longestJson) {
    refuse(`${field}.config_json must have at most ${longestJson} characters`)
  }
}

function refuse(sentence: string): never {
  throw new AppError('invalid', `${sentence}.`)
}

/** Pure: returns the policy as stored. A scaler at an unchanged position keeps its id. */
export function newPolicy(
  serviceId: string,
  body: AutoscalingBody,
  former: PolicyRow | undefined,
  now: Date,
): PolicyRow {
  const at = now.toISOString()
  return {
    id: former?.id ?? newId(),
    service_id: serviceId,
    created_at: former?.created_at ?? now,
    updated_at: now,
    mode: body.mode,
    polling_interval_seconds: body.polling_interval_seconds ?? defaults.polling_interval_seconds,
    cooldown_period_seconds: body.cooldown_period_seconds ?? defaults.cooldown_period_seconds,
    scalers: body.scalers.map((scaler, index) => storedScaler(scaler, former?.scalers[index], at)),
  }
}

function storedScaler(body: ScalerBody, before: StoredScaler | undefined, at: string): StoredScaler {
  const kept = before?.scaler_type === body.scaler_type ? before : undefined
  const trigger = body.trigger_authentication
  const formerTrigger = kept?.trigger_authentication
  return {
    id: kept?.id ?? newId(),
    created_at: kept?.created_at ?? at,
    updated_at: at,
    scaler_type: body.scaler_type,
    enabled: body.enabled ?? true,
    role: body.role,
    config_json: body.config_json ?? null,
    config_yaml: body.config_yaml ?? null,
    trigger_authentication: trigger
      ? {
          id: formerTrigger?.id ?? newId(),
          created_at: formerTrigger?.created_at ?? at,
          updated_at: at,
          name: trigger.name,
          config_yaml: trigger.config_yaml ?? '',
        }
      : null,
  }
}

/**
 * Stores the policy of a service: undefined leaves it unchanged, null removes it. Runs inside the
 * caller's transaction; the caller raises `config_version`.
 */
export async function setAutoscaling(
  sql: Sql,
  serviceId: string,
  body: AutoscalingBody | null | undefined,
  now: Date,
): Promise<void> {
  if (body === undefined) return
  if (body === null) return deletePolicy(sql, serviceId)
  await checkAutoscaling(body)
  await putPolicy(sql, newPolicy(serviceId, body, await findPolicy(sql, serviceId), now))
}

/** Returns the policies of all these services as the API answers them. */
export async function autoscalingOf(sql: Sql, serviceIds: readonly string[]): Promise<Map<string, AutoscalingRecord>> {
  const rows = serviceIds.length === 0 ? [] : await listPolicies(sql, serviceIds)
  return new Map(rows.map((row) => [row.service_id, policyRecord(row, row.organization_id)]))
}

function policyRecord(row: PolicyRow, organization_id: string): AutoscalingRecord {
  return {
    ...row,
    scalers: row.scalers.map(({ trigger_authentication: trigger, ...scaler }) => ({
      ...scaler,
      ...times(scaler),
      ...(trigger ? { trigger_authentication: { ...trigger, ...times(trigger), organization_id } } : {}),
    })),
  }
}

const times = (stored: { readonly created_at: string; readonly updated_at: string }) => ({
  created_at: new Date(stored.created_at),
  updated_at: new Date(stored.updated_at),
})
