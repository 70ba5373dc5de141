import type { Operation } from './operation.ts'
import { Enum, Timestamp, Type, Uuid } from './schema.ts'

/**
 * The changes of an organization as server-sent events. It is not an operation: its response is
 * endless.
 */
export const eventStream = {
  method: 'GET',
  path: '/organization/{organizationId}/stream',
  target: 'organization',
  access: 'read',
  summary: 'Streams every change in the organization that the caller may read, once and in order.',
  contentType: 'text/event-stream',
} as const satisfies Pick<Operation, 'method' | 'path' | 'target' | 'access' | 'summary'> & { contentType: string }

const ofService = ['project_id', 'environment_id', 'service_id', 'kind', 'state'] as const

/** The types of change events, and the fields of their data besides time and organization. */
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
  'organization.changed': ['subject'],
  'cluster.changed': ['cluster_id', 'subject'],
  'project.changed': ['project_id', 'subject'],
  'environment.changed': ['project_id', 'environment_id', 'subject'],
  'service.changed': ['project_id', 'environment_id', 'service_id', 'kind', 'subject'],
} as const
type ChangeType = keyof typeof changeTypes

const isId = (name: string): boolean => name.endsWith('_id') && name !== 'execution_id'
const changeData = (type: ChangeType) => {
  const own = changeTypes[type].map((name) => [name, isId(name) ? Uuid : Type.String()] as const)
  return Type.Object({ type: Enum([type]), at: Timestamp, organization_id: Uuid, ...Object.fromEntries(own) })
}
const reason = Type.Object({ reason: Type.String() })

/** The JSON in `data` for every type of event. */
export const eventData = {
  ready: Type.Object({}),
  // Object.keys loses the type of the table's keys.
  ...Object.fromEntries((Object.keys(changeTypes) as ChangeType[]).map((type) => [type, changeData(type)])),
  reset: reason,
  end: reason,
} as const
