import { auditTargets, auditTypes } from '../audit.ts'
import { origins } from '../enums.ts'
import { operation } from '../operation.ts'
import { Enum, Integer, Nullable, Text, Timestamp, Type, Uuid } from '../schema.ts'
import type { StackAction } from '../services/terraform.ts'
import type { Action } from '../states.ts'

/** The event types for the end of a deployment, by its action: success and failure. */
export const outcomeEvents = {
  DEPLOY: ['DEPLOYED', 'DEPLOY_FAILED'],
  RESTART: ['RESTARTED', 'RESTART_FAILED'],
  STOP: ['STOPPED', 'STOP_FAILED'],
  DELETE: ['DELETED', 'DELETE_FAILED'],
  UNINSTALL: ['UNINSTALLED', 'UNINSTALL_FAILED'],
} as const satisfies Partial<Record<Action, readonly [string, string]>>

/** The same for actions on stacks, which are deployments that do not apply. */
export const stackOutcomeEvents = {
  PLAN: ['DEPLOYED_DRY_RUN', 'DEPLOYED_DRY_RUN_FAILED'],
  FORCE_UNLOCK: ['TERRAFORM_FORCE_UNLOCK_SUCCEEDED', 'TERRAFORM_FORCE_UNLOCK_FAILED'],
  MIGRATE_STATE: ['TERRAFORM_MIGRATE_STATE_SUCCEEDED', 'TERRAFORM_MIGRATE_STATE_FAILED'],
} as const satisfies Partial<Record<StackAction, readonly [string, string]>>

/** Event types of the API that never occur here. A list filtered by them is empty. */
const foreignTypes = [
  'DEPLOY_QUEUED',
  'STOP_QUEUED',
  'RESTART_QUEUED',
  'DELETE_QUEUED',
  'UNINSTALL_QUEUED',
  'DRY_RUN',
  'FORCE_RUN_QUEUED',
  'FORCE_RUN_QUEUED_DEPLOY',
  'FORCE_RUN_QUEUED_STOP',
  'FORCE_RUN_QUEUED_DELETE',
  'TRIGGER_FORCE_RUN_DEPLOY',
  'TRIGGER_FORCE_RUN_STOP',
  'TRIGGER_FORCE_RUN_DELETE',
  'FORCE_RUN_SUCCEEDED',
  'FORCE_RUN_FAILED',
  'REMOTE_DEBUG',
  'MCP',
  'IMPORT',
  'LOCK',
  'UNLOCK',
  'POLICY_FAILED',
] as const
const outcomeTypes = [outcomeEvents, stackOutcomeEvents].flatMap((events) => Object.values(events).flat())
const eventTypes = [...new Set([...auditTypes, ...outcomeTypes, ...foreignTypes])]
const targetTypes = [...auditTargets, 'AGENTIC_WORKFLOW', 'ENTERPRISE_CONNECTION'] as const

export const OrganizationEvent = Type.Object({
  id: Uuid,
  timestamp: Timestamp,
  event_type: Type.String(),
  target_id: Nullable(Uuid),
  target_name: Type.String(),
  target_type: Type.String(),
  sub_target_type: Nullable(Type.String()),
  change: Type.String({ description: 'the object after the change, as JSON' }),
  origin: Type.String(),
  triggered_by: Type.String(),
  project_id: Nullable(Uuid),
  project_name: Type.String(),
  environment_id: Nullable(Uuid),
  environment_name: Type.String(),
  user_agent: Nullable(Type.String()),
  original_change: Nullable(Type.String({ description: 'the object before the change, as JSON' })),
})

const moment = Text(40, 1)
const path = '/organization/{organizationId}'
const read = {
  method: 'GET',
  target: 'organization',
  access: 'admin',
  tag: 'Organization Event',
  status: 200,
} as const

export const organizationEventOperations = {
  getOrganizationEvents: operation({
    ...read,
    path: `${path}/events`,
    handler: 'listOrganizationEvents',
    summary:
      'Lists the audit events of an organization, newest first. Times are RFC 3339 or Unix timestamps. ' +
      '`links` has the URLs of the adjacent pages.',
    query: Type.Object({
      pageSize: Type.Optional(Integer(1, 100)),
      fromTimestamp: Type.Optional(moment),
      toTimestamp: Type.Optional(moment),
      continueToken: Type.Optional(Text(100, 1)),
      stepBackToken: Type.Optional(Text(100, 1)),
      eventType: Type.Optional(Enum(eventTypes)),
      targetType: Type.Optional(Enum(targetTypes)),
      targetId: Type.Optional(Uuid),
      subTargetType: Type.Optional(Text(60, 1)),
      triggeredBy: Type.Optional(Text(255, 1)),
      origin: Type.Optional(Enum([...origins, 'SKILL'])),
      serviceProjectId: Type.Optional(Uuid),
      serviceEnvironmentId: Type.Optional(Uuid),
    }),
    reply: Type.Object({
      links: Type.Object({ previous: Type.Optional(Type.String()), next: Type.Optional(Type.String()) }),
      organization_id: Uuid,
      organization_max_limit_reached: Type.Boolean(),
      events: Type.Array(OrganizationEvent),
    }),
  }),
  getOrganizationEventTargets: operation({
    ...read,
    path: `${path}/targets`,
    handler: 'listOrganizationEventTargets',
    summary:
      'Lists the targets of the audit events as filter values, or the projects or environments of those targets.',
    query: Type.Object({
      fromTimestamp: Type.Optional(moment),
      toTimestamp: Type.Optional(moment),
      eventType: Type.Optional(Enum(eventTypes)),
      targetType: Type.Optional(Enum(targetTypes)),
      triggeredBy: Type.Optional(Text(255, 1)),
      origin: Type.Optional(Enum([...origins, 'SKILL'])),
      projectId: Type.Optional(Uuid),
      environmentId: Type.Optional(Uuid),
      targetLevelToFetch: Type.Optional(Enum(['PROJECT', 'ENVIRONMENT'])),
    }),
    reply: Type.Object({ targets: Type.Array(Type.Object({ id: Uuid, name: Type.String() })) }),
  }),
} as const
