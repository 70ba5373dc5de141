import { operation } from '../operation.ts'
import { Enum, Nullable, Results, Timestamp, Type, Uuid } from '../schema.ts'

export const copyStatuses = ['ONGOING', 'SUCCESS', 'ERROR', 'CANCELED'] as const
export type CopyStatus = (typeof copyStatuses)[number]

/** One copy of an environment, or of a service with its data: also one that could not be made, and was removed. */
const Copy = Type.Object({
  id: Type.String({ format: 'uuid', description: 'of the environment or service that is made' }),
  name: Type.String(),
  project_id: Uuid,
  environment_id: Uuid,
  service_id: Nullable(Uuid),
  source_id: Type.String({ format: 'uuid', description: 'of the environment or service that is copied' }),
  with_data: Type.Boolean(),
  status: Enum(copyStatuses),
  copied_bytes: Type.Integer({ minimum: 0, description: 'of volumes and databases, so far' }),
  reason: Nullable(Type.String({ description: 'why it could not be made' })),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
})

export const copyOperations = {
  listCopies: operation({
    extension: true,
    method: 'GET',
    path: '/organization/{organizationId}/copy',
    handler: 'listCopies',
    target: 'organization',
    access: 'read',
    tag: 'Environment Actions',
    summary:
      'The last 100 copies of environments, and of services with data, newest first: how far they are, and why one failed.',
    reply: Results(Copy),
    status: 200,
  }),
} as const
