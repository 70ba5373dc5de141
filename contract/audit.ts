/** The terms of audit events: who did what to which object. */
export const auditTypes = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'ACCEPT',
  'EXPORT',
  'CLONE',
  'MAINTENANCE',
  'TRIGGER_DEPLOY',
  'TRIGGER_REDEPLOY',
  'TRIGGER_STOP',
  'TRIGGER_RESTART',
  'TRIGGER_DELETE',
  'TRIGGER_UNINSTALL',
  'TRIGGER_CANCEL',
  'TRIGGER_FORCE_RUN',
  'TRIGGER_DEPLOY_DRY_RUN',
  'TRIGGER_TERRAFORM_FORCE_UNLOCK',
  'TRIGGER_TERRAFORM_MIGRATE_STATE',
  'SHELL',
  'PORT_FORWARD',
] as const
export type AuditType = (typeof auditTypes)[number]

export const auditTargets = [
  'APPLICATION',
  'CLUSTER',
  'CONTAINER',
  'CONTAINER_REGISTRY',
  'DATABASE',
  'ENVIRONMENT',
  'HELM',
  'HELM_REPOSITORY',
  'JOB',
  'MEMBERS_AND_ROLES',
  'ORGANIZATION',
  'PROJECT',
  'TERRAFORM',
  'WEBHOOK',
] as const
export type AuditTarget = (typeof auditTargets)[number]

export const auditSubTargets = [
  'ADVANCED_SETTINGS',
  'ANNOTATIONS_GROUP',
  'API_TOKEN',
  'CLOUD_PROVIDER_CREDENTIALS',
  'CLUSTER_CREDENTIALS',
  'CLUSTER_ROUTING_TABLE',
  'CONFIG',
  'CUSTOM_DOMAIN',
  'CUSTOM_ROLE',
  'DEPLOYMENT_RULE',
  'DEPLOYMENT_STAGE',
  'DNS_PROVIDER',
  'GIT_REPOSITORY',
  'GIT_TOKEN',
  'INVITATION',
  'KUBERNETES_CONFIGURATION',
  'LABELS_GROUP',
  'MEMBER_ROLE',
  'REMOTE_ACCESS',
  'SECRET',
  'TERRAFORM',
  'TRANSFER_OWNERSHIP',
  'VARIABLE',
] as const
export type AuditSubTarget = (typeof auditSubTargets)[number]

/**
 * The audit event of an operation. A `target` of `SERVICE` becomes the type of the service in the
 * path.
 */
export interface AuditEvent {
  readonly type: AuditType
  readonly target: AuditTarget | 'SERVICE'
  readonly sub?: AuditSubTarget
  /** Types that a field of the body or of the query chooses by its value. */
  readonly chosenBy?: { readonly field: string; readonly types: Readonly<Record<string, AuditType>> }
}

/** Pure: returns the type of a call's audit event. */
export function auditTypeOf({ type, chosenBy }: AuditEvent, call: { body?: unknown; query?: unknown }): AuditType {
  if (!chosenBy) return type
  const { field, types } = chosenBy
  const value = Object(call.body)[field] ?? Object(call.query)[field]
  return Object.entries(types).find(([name]) => name === String(value))?.[1] ?? type
}
