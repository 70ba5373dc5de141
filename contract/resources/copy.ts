import { operation } from '../operation.ts'
import { Enum, Nullable, Results, Timestamp, Type, Uuid } from '../schema.ts'

export const copyStatuses = ['ONGOING', 'SUCCESS', 'ERROR', 'CANCELED'] as const
export type CopyStatus = (typeof copyStatuses)[number]

/** One copy of an environment, or of a service with its data. A failed copy is listed too. */
const Copy = Type.Object({
  id: Type.String({ format: 'uuid', description: 'the id of the new environment or service' }),
  name: Type.String(),
  project_id: Uuid,
  environment_id: Uuid,
  service_id: Nullable(Uuid),
  source_id: Type.String({ format: 'uuid', description: 'the id of the copied environment or service' }),
  with_data: Type.Boolean(),
  status: Enum(copyStatuses),
  copied_bytes: Type.Integer({ minimum: 0, description: 'bytes of volumes and databases copied so far' }),
  reason: Nullable(Type.String({ description: 'why the copy failed' })),
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
      'Lists the last 100 copies of environments and of services with data, newest first, with their ' +
      'progress and any failure.',
    reply: Results(Copy),
    status: 200,
  }),
} as const
