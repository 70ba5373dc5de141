import { Enum, Nullable, Timestamp, Type, Uuid } from '../schema.ts'

/** The effect of a deployment on an object of a chart. */
export const chartChanges = ['CREATE', 'CHANGE', 'DELETE'] as const
export type ChartChangeName = (typeof chartChanges)[number]

const count = Type.Integer({ minimum: 0 })
const text = 'a value as JSON; of a long one the part that differs. Null if it is absent or hidden'
const ChangedField = Type.Object({
  path: Type.String({ description: 'spec.template.spec.containers[web].image' }),
  before: Nullable(Type.String({ description: text })),
  after: Nullable(Type.String({ description: text })),
  is_hidden: Type.Boolean({ description: 'true: it is a value of a Secret, or only a secret in it differs' }),
})

const ChangedObject = Type.Object({
  api_version: Type.String(),
  kind: Type.String(),
  name: Type.String(),
  namespace: Nullable(Type.String({ description: 'null in the namespace of the environment' })),
  change: Enum(chartChanges),
  fields: Type.Array(ChangedField, { description: 'all members of a new object, and those of others that differ' }),
  omitted_fields: Type.Integer({ minimum: 0, description: 'the number of fields that are not listed' }),
})

/** A deployment of a chart that only showed what it would change. */
const run = {
  id: Uuid,
  created_at: Timestamp,
  execution_id: Nullable(Type.String({ description: 'the deployment that made it' })),
  commit: Nullable(Type.String({ description: 'the commit of the chart' })),
  values_commit: Nullable(Type.String({ description: 'the commit of the values' })),
  is_current: Type.Boolean({
    description: 'false: settings, variables or the installed version have changed since',
  }),
  counts: Type.Object({ create: count, change: count, delete: count }),
  has_changes: Type.Boolean({ description: 'whether a deployment would change anything' }),
}
export const ChartDiffRun = Type.Object(run)

/** The objects that a deployment would change, without secrets. Lists at most 500 of them. */
export const ChartDiff = Type.Object({ ...run, objects: Type.Array(ChangedObject) })
