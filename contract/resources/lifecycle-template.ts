import { operation } from '../operation.ts'
import { Enum, Results, Type, Uuid } from '../schema.ts'

const listed = { id: Uuid, name: Type.String(), description: Type.String() }

/**
 * A template of a lifecycle job: a Dockerfile, its commands by event, and the variables that it
 * needs.
 */
export const LifecycleTemplate = Type.Object({
  ...listed,
  sourceUrl: Type.String(),
  cloud_provider: Enum(['AWS', 'SCW', 'GCP', 'ON_PREMISE', 'AZURE']),
  events: Type.Array(
    Type.Object({
      name: Type.String(),
      entrypoint: Type.Optional(Type.String()),
      command: Type.Array(Type.String()),
    }),
  ),
  max_duration_in_sec: Type.Integer(),
  resources: Type.Object({ cpu_milli: Type.Integer(), ram_mib: Type.Integer() }),
  variables: Type.Array(
    Type.Object({
      name: Type.String(),
      description: Type.String(),
      default: Type.String(),
      is_secret: Type.Boolean(),
      file: Type.Optional(Type.Object({ path: Type.String(), enable_interpolation: Type.Boolean() })),
    }),
  ),
  dockerfile: Type.String(),
})

const read = { method: 'GET', target: 'environment', access: 'read', tag: 'LifecycleTemplate', status: 200 } as const
const path = '/environment/{environmentId}/lifecycleTemplate'

export const lifecycleTemplateOperations = {
  listEnvironmentLifecycleTemplates: operation({
    ...read,
    path,
    handler: 'listLifecycleTemplates',
    summary: 'Lists the templates of lifecycle jobs.',
    reply: Results(Type.Object(listed)),
  }),
  getEnvironmentLifecycleTemplate: operation({
    ...read,
    path: `${path}/{lifecycleTemplateId}`,
    handler: 'getLifecycleTemplate',
    summary: 'Returns a template of a lifecycle job with its Dockerfile.',
    reply: LifecycleTemplate,
  }),
} as const
