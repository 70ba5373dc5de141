import { Defaulted, Enum, Nullable, Text, Timestamp, Type, Uuid } from '../schema.ts'

/** The effect of a plan on a resource. */
export const planActions = ['create', 'update', 'replace', 'delete', 'read', 'forget'] as const
export type PlanAction = (typeof planActions)[number]

const count = Type.Integer({ minimum: 0 })
export const PlanCounts = Type.Object({
  create: count,
  update: count,
  replace: count,
  delete: count,
  read: count,
  forget: count,
})

const text = 'a value as JSON; long ones are cut. Null if it is absent, sensitive or not yet known'
const PlannedChange = Type.Object({
  name: Type.String(),
  before: Nullable(Type.String({ description: text })),
  after: Nullable(Type.String({ description: text })),
  is_sensitive: Type.Boolean(),
  is_known: Type.Boolean({ description: 'false: the value is known after the apply' }),
})
const PlannedResource = Type.Object({
  address: Type.String(),
  action: Enum(planActions),
  changes: Type.Array(PlannedChange),
})

export const stackRunActions = ['PLAN', 'APPLY', 'DESTROY', 'DRIFT', 'RESTORE_STATE', 'MIGRATE_STATE'] as const
export type StackRunAction = (typeof stackRunActions)[number]
export const stackRunStatuses = ['RUNNING', 'SUCCESS', 'ERROR', 'CANCELED', 'LOST'] as const
export type StackRunStatus = (typeof stackRunStatuses)[number]

/** One run of a stack. */
export const StackRun = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
  action: Enum(stackRunActions),
  status: Enum(stackRunStatuses),
  reason: Nullable(Type.String({ description: 'why it failed' })),
  execution_id: Nullable(Type.String({ description: 'the deployment that it belongs to' })),
  counts: Nullable(PlanCounts),
  drifted: Nullable(Type.Integer({ description: 'the number of resources that were changed outside of the stack' })),
})

/** A plan without sensitive values. Lists at most 500 resources, and 30 attributes of each. */
export const StackPlan = Type.Object({
  run: StackRun,
  counts: PlanCounts,
  has_changes: Type.Boolean({ description: 'whether an apply would change anything' }),
  resources: Type.Array(PlannedResource),
  outputs: Type.Array(Type.String({ description: 'the name of an output that changes' })),
  drift: Type.Array(PlannedResource, {
    description: 'the changes of resources that were made outside of the stack since its last apply',
  }),
})

/** One version of the state of a stack. Its content is not readable. */
export const StackState = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  number: Type.Integer({ minimum: 1, description: 'counts the versions of this stack' }),
  serial: Type.Integer({ minimum: 0, description: 'the number that the engine gave it' }),
  lineage: Type.String(),
  size_in_bytes: count,
  execution_id: Nullable(Type.String({ description: 'the deployment that wrote it' })),
  restored_from: Nullable(Type.Integer({ description: 'the number of the version that it restored' })),
  is_current: Type.Boolean({ description: 'whether the next run uses it' }),
})

/** When a stack is checked for changes that were made outside of it, and what was found. */
export const DriftPolicy = Type.Object({
  cron_at: Nullable(Type.String({ description: 'a cron expression of five fields; null for no checks' })),
  timezone: Type.String(),
  next_at: Nullable(Timestamp),
  /** Since when a deployment would change something although nothing was edited. */
  drifted_at: Nullable(Timestamp),
  last_run: Nullable(StackRun),
})

export const DriftPolicyRequest = Type.Object({
  cron_at: Type.Optional(Nullable(Text(255, 1))),
  timezone: Defaulted(Type.String({ maxLength: 64 }), 'Etc/UTC'),
})
