/** A scaler of an autoscaling policy, with its texts read. */
export interface ReadScaler {
  readonly scaler_type: string
  readonly enabled: boolean
  /** Null if an earlier version stored it without reading it. */
  readonly values: Readonly<Record<string, unknown>> | null
  /** The content of its trigger authentication. Null if it has none. */
  readonly authentication: Readonly<Record<string, unknown>> | null
}

/** An event source in the words of KEDA. */
export interface EventTrigger {
  readonly type: string
  readonly metadata: Readonly<Record<string, string>>
  /** Names of variables of the service, by the parameters that get their values. */
  readonly variables: Readonly<Record<string, string>>
}

/** How a service reacts to events. */
export interface EventScaling {
  readonly pollingSeconds: number
  readonly cooldownSeconds: number
  readonly triggers: readonly EventTrigger[]
}

/**
 * How an autoscaling policy acts on a cluster: its events scale the service, or only its cool-down
 * acts, or it is rejected because the cluster lacks something.
 */
export type EventUse = 'scale' | 'cool-down' | { readonly lacks: string }

const typeName = /^[a-z0-9][a-z0-9-]{0,62}$/
const plainName = /^[A-Za-z_][A-Za-z0-9_.-]{0,254}$/

/**
 * Returns the triggers of a policy, or why a cluster does not take them. Values of other programs
 * and identities of the cluster are rejected: a trigger may use variables of its own service alone.
 * Pure.
 */
export function triggersOf(
  scalers: readonly ReadScaler[],
): { readonly triggers: readonly EventTrigger[] } | { readonly problem: string } {
  const triggers: EventTrigger[] = []
  for (const [index, scaler] of scalers.entries()) {
    if (!scaler.enabled) continue
    const read = triggerOf(scaler)
    if (typeof read === 'string') return { problem: `autoscaling.scalers[${index}]${read}` }
    triggers.push(read)
  }
  return triggers.length > 0 ? { triggers } : { problem: 'autoscaling.scalers must have an enabled one' }
}

function triggerOf({ scaler_type: type, values, authentication }: ReadScaler): EventTrigger | string {
  if (!typeName.test(type)) return '.scaler_type must be the name of a scaler of KEDA, such as cron'
  if (values === null) return ' was stored by an earlier version; send the policy again'
  for (const [name, value] of Object.entries(values)) {
    if (!plainName.test(name)) return ` has a value with a name that is not allowed: ${name.slice(0, 100)}`
    if (!['string', 'number', 'boolean'].includes(typeof value)) return `: ${name} must be a string, number or boolean`
    if (name === 'identityOwner' && value !== 'pod') return ': identityOwner must be pod'
  }
  const variables = variablesOf(authentication)
  if (typeof variables === 'string') return `.trigger_authentication.config_yaml ${variables}`
  const metadata = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))
  return { type, metadata, variables }
}

const onlyEnv = 'may only have env: a list of entries with parameter and name, the name of a variable of the service'

function variablesOf(authentication: ReadScaler['authentication']): Record<string, string> | string {
  if (authentication === null) return {}
  const { env, ...others } = authentication
  if (Object.keys(others).length > 0 || !Array.isArray(env) || env.length === 0 || env.length > 50) return onlyEnv
  const pairs: [string, string][] = []
  for (const entry of env) {
    const { parameter, name, ...more } = Object(entry)
    const isPair = [parameter, name].every((text) => typeof text === 'string' && plainName.test(text))
    if (!isPair || Object.keys(more).length > 0) return onlyEnv
    pairs.push([parameter, name])
  }
  return Object.fromEntries(pairs)
}
