import { base, Enum, Integer, List, Nullable, Text, Type, Uuid } from '../schema.ts'

export const scalerRoles = ['PRIMARY', 'SAFETY'] as const

/** Any JSON object, stored unchanged. */
const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', patternProperties: { '': {} } })
const yaml = Text(16_384)

const ScalerRequest = Type.Object({
  scaler_type: Text(100, 1),
  enabled: Type.Optional(Type.Boolean()),
  role: Enum(scalerRoles),
  config_json: Type.Optional(Nullable(anyObject)),
  config_yaml: Type.Optional(Nullable(yaml)),
  trigger_authentication: Type.Optional(
    Nullable(Type.Object({ name: Text(253, 1), config_yaml: Type.Optional(Nullable(yaml)) })),
  ),
})

/**
 * How a service scales by events. One machine does not scale: only the cool-down acts, as the time
 * before a service sleeps. Clusters scale by events if they have KEDA, and reject an enabled scaler
 * otherwise. If all scalers are disabled, only the cool-down acts on clusters as well.
 */
export const AutoscalingRequest = Type.Object({
  mode: Enum(['KEDA']),
  polling_interval_seconds: Type.Optional(Nullable(Integer(1, 86_400))),
  cooldown_period_seconds: Type.Optional(Nullable(Integer(0, 86_400))),
  scalers: List(ScalerRequest, 20),
})

const Scaler = Type.Object({
  ...base,
  scaler_type: Type.String(),
  enabled: Type.Boolean(),
  role: Enum(scalerRoles),
  config_json: Nullable(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', additionalProperties: true })),
  config_yaml: Nullable(Type.String()),
  trigger_authentication: Type.Optional(
    Type.Object({ ...base, organization_id: Uuid, name: Type.String(), config_yaml: Type.String() }),
  ),
})

export const Autoscaling = Type.Object({
  ...base,
  service_id: Uuid,
  mode: Enum(['KEDA']),
  polling_interval_seconds: Type.Integer(),
  cooldown_period_seconds: Type.Integer(),
  scalers: Type.Array(Scaler),
})
