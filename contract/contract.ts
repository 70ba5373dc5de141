/**
 * The API as data: every operation by its public name. No I/O. Routes, checks, types, document and
 * client are computed from it.
 */
import type { Operation } from './operation.ts'
import { accountOperations } from './resources/account.ts'
import { anyVariableOperations } from './resources/any-variable.ts'
import { apiTokenOperations } from './resources/api-token.ts'
import { catalogueOperations } from './resources/catalogue.ts'
import { clusterOperations } from './resources/cluster.ts'
import { clusterActionOperations } from './resources/cluster-actions.ts'
import { clusterPartOperations } from './resources/cluster-parts.ts'
import { commitOperations } from './resources/commit.ts'
import { copyOperations } from './resources/copy.ts'
import { credentialsOperations } from './resources/credentials.ts'
import { customRoleOperations } from './resources/custom-role.ts'
import { deploymentHistoryOperations, serviceHistoryOperations } from './resources/deployment-history.ts'
import { deploymentRuleOperations } from './resources/deployment-rule.ts'
import { deploymentStageOperations } from './resources/deployment-stage.ts'
import { environmentOperations } from './resources/environment.ts'
import { environmentActionOperations } from './resources/environment-action.ts'
import { gitBrowsingOperations } from './resources/git-browsing.ts'
import { gitCheckOperations } from './resources/git-check.ts'
import { gitTokenOperations } from './resources/git-token.ts'
import { gitWebhookOperations } from './resources/git-webhook.ts'
import { lifecycleTemplateOperations } from './resources/lifecycle-template.ts'
import { memberOperations } from './resources/member.ts'
import { organizationOperations } from './resources/organization.ts'
import { organizationEventOperations } from './resources/organization-event.ts'
import { overviewOperations } from './resources/overview.ts'
import { projectOperations } from './resources/project.ts'
import { registryOperations } from './resources/registry.ts'
import { annotationsGroupOperations, labelsGroupOperations } from './resources/tag-group.ts'
import { importOperation } from './resources/variable-import.ts'
import { variableOperations } from './resources/variable-operations.ts'
import { webhookOperations } from './resources/webhook.ts'
import { kindOperations } from './services/all-kinds.ts'
import { backupOperations } from './services/backup-operations.ts'
import { servicePartOperations } from './services/service-part-operations.ts'
import { specialOperations } from './services/special-operations.ts'

export const contract = {
  ...organizationOperations,
  ...organizationEventOperations,
  ...apiTokenOperations,
  ...memberOperations,
  ...customRoleOperations,
  ...accountOperations,
  ...gitTokenOperations,
  ...gitWebhookOperations,
  ...webhookOperations,
  ...annotationsGroupOperations,
  ...labelsGroupOperations,
  ...registryOperations,
  ...gitBrowsingOperations,
  ...gitCheckOperations,
  ...commitOperations,
  ...lifecycleTemplateOperations,
  ...clusterOperations,
  ...clusterPartOperations,
  ...clusterActionOperations,
  ...credentialsOperations,
  ...catalogueOperations,
  ...projectOperations,
  ...variableOperations('Project', '/project/{projectId}', 'project'),
  ...environmentOperations,
  ...deploymentStageOperations,
  ...deploymentRuleOperations,
  ...environmentActionOperations,
  ...copyOperations,
  ...deploymentHistoryOperations,
  ...serviceHistoryOperations,
  ...overviewOperations,
  ...variableOperations('Environment', '/environment/{environmentId}', 'environment'),
  ...kindOperations,
  ...specialOperations,
  ...backupOperations,
  ...variableOperations('Application', '/application/{applicationId}', 'service', 'application'),
  ...variableOperations('Container', '/container/{containerId}', 'service', 'container'),
  ...variableOperations('Job', '/job/{jobId}', 'service', 'job'),
  importEnvironmentVariable: importOperation('/application/{applicationId}', 'application'),
  importContainerEnvironmentVariable: importOperation('/container/{containerId}', 'container'),
  importJobEnvironmentVariable: importOperation('/job/{jobId}', 'job'),
  ...anyVariableOperations,
  ...servicePartOperations,
} as const satisfies Record<string, Operation>

export type Contract = typeof contract
export type OperationName = keyof Contract
/** Operations that always refuse need no handler. */
export type HandlerName = Exclude<Contract[OperationName]['handler'], 'refuse'>

export * from './operation.ts'
export type { Static } from './schema.ts'
