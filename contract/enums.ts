import { requestStatuses, stateNames } from './states.ts'

/** Enumerations that more than one resource of the API uses. */
export const planNames = [
  'FREE',
  'TEAM',
  'TEAM_YEARLY',
  'ENTERPRISE',
  'ENTERPRISE_YEARLY',
  'PROFESSIONAL',
  'BUSINESS',
  'USER_2025',
  'TEAM_2025',
  'BUSINESS_2025',
  'ENTERPRISE_2025',
] as const
export type Plan = (typeof planNames)[number]
export const environmentModes = ['DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING'] as const
export const gitProviders = ['BITBUCKET', 'GITHUB', 'GITLAB'] as const
export const serviceTypes = ['APPLICATION', 'CONTAINER', 'DATABASE', 'JOB', 'HELM', 'TERRAFORM'] as const
export type ServiceType = (typeof serviceTypes)[number]

/** Returns the type of a kind: `application` is `APPLICATION`. Throws if the kind is unknown. */
export function serviceTypeOf(kind: string): ServiceType {
  const found = serviceTypes.find((type) => type === kind.toUpperCase())
  if (!found) throw new Error(`"${kind}" is not a kind of service`)
  return found
}

export const variableScopes = [
  'APPLICATION',
  'BUILT_IN',
  'ENVIRONMENT',
  'PROJECT',
  'CONTAINER',
  'JOB',
  'HELM',
  'TERRAFORM',
] as const
export const variableTypes = ['VALUE', 'ALIAS', 'OVERRIDE', 'BUILT_IN', 'FILE'] as const
export const portProtocols = ['HTTP', 'GRPC', 'TCP', 'UDP'] as const
export const clusterStates = [
  ...stateNames.filter(
    (state) => !['EXECUTING', 'RECAP', 'UNAVAILABLE'].includes(state) && !state.startsWith('WAITING_'),
  ),
  'DRY_RUN',
  'INVALID_CREDENTIALS',
] as const
export type ClusterState = (typeof clusterStates)[number]
export const serviceActions = ['DEPLOY', 'DELETE', 'RESTART', 'STOP', 'UNKNOWN'] as const
export type ServiceAction = (typeof serviceActions)[number]
export const actionStatuses = [...requestStatuses, 'EXECUTING', 'NEVER'] as const
export const triggerActions = [
  'DEPLOY',
  'DELETE',
  'RESTART',
  'STOP',
  'UNINSTALL',
  'DEPLOY_DRY_RUN',
  'TERRAFORM_FORCE_UNLOCK',
  'TERRAFORM_MIGRATE_STATE',
  'DELETE_RESOURCES_ONLY',
  'UNKNOWN',
] as const
export type TriggerAction = (typeof triggerActions)[number]
export const subActions = [
  'NONE',
  'TERRAFORM_PLAN_ONLY',
  'TERRAFORM_PLAN_AND_APPLY',
  'TERRAFORM_DESTROY',
  'TERRAFORM_FORCE_UNLOCK_STATE',
  'TERRAFORM_MIGRATE_STATE',
] as const
export type SubAction = (typeof subActions)[number]
export const origins = ['API', 'CLI', 'CONSOLE', 'GIT', 'QOVERY_INTERNAL', 'TERRAFORM_PROVIDER'] as const
export type Origin = (typeof origins)[number]
export const stageStatuses = ['QUEUED', 'ONGOING', 'DONE', 'ERROR', 'SKIPPED', 'CANCELED'] as const
export const serviceSteps = [
  'REGISTRY_CREATE_REPOSITORY',
  'GIT_CLONE',
  'BUILD_QUEUEING',
  'BUILD',
  'DEPLOYMENT_QUEUEING',
  'DEPLOYMENT',
  'ROUTER_DEPLOYMENT',
  'MIRROR_IMAGE',
  'EXECUTING',
] as const
export type ServiceStep = (typeof serviceSteps)[number]
export const stageSteps = ['TOTAL', 'QUEUEING', 'PROVISION_BUILDER'] as const
export const stepStatuses = ['SUCCESS', 'ERROR', 'CANCEL', 'SKIP'] as const
export const deploymentStatuses = ['NEVER_DEPLOYED', 'OUT_OF_DATE', 'UP_TO_DATE'] as const
export const webhookKinds = ['STANDARD', 'SLACK'] as const
/** The canonical names of webhook events. */
export const webhookEvents = [
  'DEPLOYMENT_STARTED',
  'DEPLOYMENT_CANCELLED',
  'DEPLOYMENT_FAILURE',
  'DEPLOYMENT_SUCCESSFUL',
  'STACK_DRIFTED',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]
/** Both accepted spellings of each webhook event, with its canonical name. */
export const webhookEventSpellings = {
  DEPLOYMENT_STARTED: 'DEPLOYMENT_STARTED',
  DEPLOYMENT_SUCCEEDED: 'DEPLOYMENT_SUCCESSFUL',
  DEPLOYMENT_SUCCESSFUL: 'DEPLOYMENT_SUCCESSFUL',
  DEPLOYMENT_FAILED: 'DEPLOYMENT_FAILURE',
  DEPLOYMENT_FAILURE: 'DEPLOYMENT_FAILURE',
  DEPLOYMENT_CANCELLED: 'DEPLOYMENT_CANCELLED',
  /** Of this platform: a check found that a deployment of a stack would change something. */
  STACK_DRIFTED: 'STACK_DRIFTED',
} as const satisfies Record<string, WebhookEvent>
export type WebhookEventSpelling = keyof typeof webhookEventSpellings
