import type { Operation } from './operation.ts'
import { Enum, Timestamp, Type, Uuid } from './schema.ts'

/** The changes of an organization as server-sent events. No operation like the others: its answer has no end. */
export const eventStream = {
  method: 'GET',
  path: '/organization/{organizationId}/stream',
  target: 'organization',
  access: 'read',
  summary: 'Every change of a state in the organization that the caller may read, once and in order.',
  contentType: 'text/event-stream',
} as const satisfies Pick<Operation, 'method' | 'path' | 'target' | 'access' | 'summary'> & { contentType: string }

const ofService = ['project_id', 'environment_id', 'service_id', 'kind', 'state'] as const

/** Types of its events of changes, and what their data has beside time and organization. */
export const changeTypes = {
  'environment.created': ['project_id', 'environment_id'],
  'environment.deleted': ['project_id', 'environment_id'],
  'service.created': ofService,
  'service.deleted': ofService,
  'service.state': ofService,
  'service.running': ofService,
  'deployment.status': ['project_id', 'environment_id', 'deployment_request_id', 'execution_id', 'action', 'status'],
  'backup.status': [...ofService, 'backup_id', 'proof_state', 'restore_state'],
  'copy.status': ['project_id', 'environment_id', 'copy_id', 'status'],
  'cluster.status': ['cluster_id', 'status'],
} as const
type ChangeType = keyof typeof changeTypes

const isId = (name: string): boolean => name.endsWith('_id') && name !== 'execution_id'
const changeData = (type: ChangeType) => {
  const own = changeTypes[type].map((name) => [name, isId(name) ? Uuid : Type.String()] as const)
  return Type.Object({ type: Enum([type]), at: Timestamp, organization_id: Uuid, ...Object.fromEntries(own) })
}
const reason = Type.Object({ reason: Type.String() })

/** The JSON in `data` of every type of event. */
export const eventData = {
  ready: Type.Object({}),
  // Keys of the table; Object.keys forgets their type.
  ...Object.fromEntries((Object.keys(changeTypes) as ChangeType[]).map((type) => [type, changeData(type)])),
  reset: reason,
  end: reason,
} as const
