import type { AuditType } from '@quayside/contract/audit.ts'
import { serviceTypes } from '@quayside/contract/enums.ts'
import type { AuditEntry } from '../audit/index.ts'
import type { RecordChange } from '../state-changes/index.ts'

/** How the stream of the organization reports the operations of a type of audit event. */
export type Report =
  /** `<level>.changed`, written with the audit entry. */
  | 'changed'
  /** The states that the request changes, written by triggers or by its acceptance. */
  | 'states'
  /** Nothing that a client has read becomes old. */
  | { readonly because: string }

const looks: Report = { because: 'it changes no record' }

/**
 * The reports of all writing operations, by the type of their audit event. A type that is missing
 * does not compile, so every new operation has a report.
 */
const reports: Readonly<Record<AuditType, Report>> = {
  CREATE: 'changed',
  UPDATE: 'changed',
  DELETE: 'changed',
  ACCEPT: 'changed',
  CLONE: 'changed',
  MAINTENANCE: 'changed',
  EXPORT: looks,
  SHELL: looks,
  PORT_FORWARD: looks,
  TRIGGER_DEPLOY: 'states',
  TRIGGER_REDEPLOY: 'states',
  TRIGGER_STOP: 'states',
  TRIGGER_RESTART: 'states',
  TRIGGER_DELETE: 'states',
  TRIGGER_UNINSTALL: 'states',
  TRIGGER_CANCEL: 'states',
  TRIGGER_FORCE_RUN: 'states',
  TRIGGER_DEPLOY_DRY_RUN: 'states',
  TRIGGER_TERRAFORM_FORCE_UNLOCK: 'states',
  TRIGGER_TERRAFORM_MIGRATE_STATE: 'states',
}

type Entry = Pick<
  AuditEntry,
  'event_type' | 'target_type' | 'target_id' | 'sub_target_type' | 'organization_id' | 'project_id' | 'environment_id'
>

/** Pure: the report of an operation. No state belongs to a record of an organization alone. */
export const reportOf = (type: AuditType, target: string): Report =>
  reports[type] === 'states' && target === 'WEBHOOK' ? 'changed' : reports[type]

const services = new Set<string>(serviceTypes)

/**
 * Pure: the change that the stream reports for an audit entry. It names the record, or the part of
 * it that has changed, and none of its values. Undefined if it reports none.
 */
export function changeOf(entry: Entry): RecordChange | undefined {
  // The column has the words of the contract.
  const { organization_id: organizationId, target_type: type, target_id: targetId } = entry
  if (reportOf(entry.event_type as AuditType, type) !== 'changed') return undefined
  const { project_id: projectId, environment_id: environmentId } = entry
  const at = { organizationId, subject: entry.sub_target_type ?? 'RECORD' }
  if (services.has(type) && environmentId && targetId) {
    return { ...at, level: 'service', environmentId, serviceId: targetId, kind: type.toLowerCase() }
  }
  if (environmentId) return { ...at, level: 'environment', environmentId }
  if (projectId) return { ...at, level: 'project', projectId }
  if (type === 'CLUSTER' && targetId) return { ...at, level: 'cluster', clusterId: targetId }
  return { ...at, level: 'organization', subject: entry.sub_target_type ?? type }
}
