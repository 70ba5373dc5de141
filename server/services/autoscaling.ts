import type { Static } from '@quayside/contract'
import type { Autoscaling, AutoscalingRequest } from '@quayside/contract/resources/autoscaling.ts'
import {
  type EventScaling,
  type EventUse,
  type ReadScaler,
  triggersOf,
} from '@quayside/contract/services/event-triggers.ts'
import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import {
  deletePolicy,
  findPolicy,
  findPolicyPlace,
  listPolicies,
  type PolicyRow,
  putPolicy,
  type StoredScaler,
} from './autoscaling-store.ts'
import { firstYamlProblem, readMappings } from './check-yaml.ts'

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

/** What the scalers of a body say, in their order. */
interface Said {
  readonly values: Readonly<Record<string, unknown>>
  readonly authentication: Readonly<Record<string, unknown>> | undefined
}

async function readScalers({ scalers }: AutoscalingBody): Promise<readonly Said[]> {
  const texts = scalers.map(({ config_yaml }) => config_yaml ?? '{}')
  const triggers = scalers.map(({ trigger_authentication: trigger }) => trigger?.config_yaml || '{}')
  const read = await readMappings([...texts, ...triggers])
  return scalers.map(({ config_json, config_yaml, trigger_authentication: trigger }, index) => ({
    values: { ...(config_yaml ? read[index] : {}), ...config_json },
    authentication: trigger ? read[scalers.length + index] : undefined,
  }))
}

/** Pure: returns the policy as stored. A scaler at an unchanged position keeps its id. */
export function newPolicy(
  serviceId: string,
  body: AutoscalingBody,
  { former, said, now }: { readonly former: PolicyRow | undefined; readonly said: readonly Said[]; readonly now: Date },
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
    scalers: body.scalers.map((scaler, index) =>
      storedScaler(scaler, former?.scalers[index], { at, said: said[index] }),
    ),
  }
}

function storedScaler(
  body: ScalerBody,
  before: StoredScaler | undefined,
  { at, said }: { readonly at: string; readonly said: Said | undefined },
): StoredScaler {
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
          ...(said?.authentication && { values: said.authentication }),
        }
      : null,
    ...(said && { values: said.values }),
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
  { now, eventsOf }: { readonly now: Date; readonly eventsOf: EventsOf },
): Promise<void> {
  if (body === undefined) return
  if (body === null) return deletePolicy(sql, serviceId)
  await checkAutoscaling(body)
  const said = await readScalers(body)
  const policy = newPolicy(serviceId, body, { former: await findPolicy(sql, serviceId), said, now })
  const { name, engine } = await findPolicyPlace(sql, serviceId)
  const refusal = policyRefusal(policy, { name, events: eventsOf(engine) })
  if (refusal) throw new AppError('invalid', refusal)
  await putPolicy(sql, policy)
}

/** Returns how policies act on the clusters of an engine. */
export type EventsOf = (engine: string | null) => EventUse

/** Pure: returns why a cluster does not take a policy; undefined if it does. */
function policyRefusal(
  policy: PolicyRow,
  place: { readonly name: string; readonly events: EventUse },
): string | undefined {
  if (!scalesByEvents(policy)) return undefined
  const refusal = autoscalingRefusal(place)
  if (refusal) return refusal
  if (place.events !== 'scale') return undefined
  const read = triggersOf(readableScalers(policy))
  return 'problem' in read ? `${read.problem}.` : undefined
}

/** Whether a policy has events. One whose scalers are all disabled is an idle time alone. */
const scalesByEvents = ({ scalers }: PolicyRow): boolean => scalers.some(({ enabled }) => enabled)

/** Pure: returns why a cluster takes no policy with events; undefined if it does. */
export const autoscalingRefusal = ({
  name,
  events,
}: {
  readonly name: string
  readonly events: EventUse
}): string | undefined =>
  typeof events === 'object'
    ? `autoscaling must have no enabled scaler on cluster "${name}": it has ${events.lacks}. Install it there, or ` +
      'leave autoscaling out, and replicas follow the load. To choose only when a service sleeps, disable all ' +
      'scalers, and cooldown_period_seconds is the idle time before it sleeps.'
    : undefined

const readableScalers = ({ scalers }: PolicyRow): ReadScaler[] =>
  scalers.map(({ scaler_type, enabled, values, trigger_authentication: trigger }) => ({
    scaler_type,
    enabled,
    values: values ?? null,
    authentication: trigger ? (trigger.values ?? {}) : null,
  }))

/** The policy of a service in the form that a version keeps. Null without events. */
export interface EventPolicy extends Omit<EventScaling, 'triggers'> {
  readonly scalers: readonly ReadScaler[]
}

/** Returns the policy of a service for a new version. */
export async function eventPolicyOf(sql: Sql, serviceId: string): Promise<EventPolicy | null> {
  const policy = await findPolicy(sql, serviceId)
  if (!policy || !scalesByEvents(policy)) return null
  const { polling_interval_seconds: pollingSeconds, cooldown_period_seconds: cooldownSeconds } = policy
  return { pollingSeconds, cooldownSeconds, scalers: readableScalers(policy) }
}

/** Returns the policies of all these services as the API answers them. */
export async function autoscalingOf(sql: Sql, serviceIds: readonly string[]): Promise<Map<string, AutoscalingRecord>> {
  const rows = serviceIds.length === 0 ? [] : await listPolicies(sql, serviceIds)
  return new Map(rows.map((row) => [row.service_id, policyRecord(row, row.organization_id)]))
}

function policyRecord(row: PolicyRow, organization_id: string): AutoscalingRecord {
  return {
    ...row,
    scalers: row.scalers.map(({ trigger_authentication: trigger, values: _, ...scaler }) => ({
      ...scaler,
      ...times(scaler),
      ...(trigger ? { trigger_authentication: triggerRecord(trigger, organization_id) } : {}),
    })),
  }
}

function triggerRecord(
  { values: _, ...trigger }: NonNullable<StoredScaler['trigger_authentication']>,
  organization_id: string,
) {
  return { ...trigger, ...times(trigger), organization_id }
}

const times = (stored: { readonly created_at: string; readonly updated_at: string }) => ({
  created_at: new Date(stored.created_at),
  updated_at: new Date(stored.updated_at),
})
