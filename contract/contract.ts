/**
 * The API as data: every operation by its public name. No I/O. Routes, checks, types, document and
 * client are computed from it.
 */
import type { Operation } from './operation.ts'
import { accountOperations } from './resources/account.ts'
import { anyVariableOperations } from './resources/any-variable.ts'
import { apiTokenOperations } from './resources/api-token.ts'
import { canaryOperations } from './resources/canary.ts'
import { catalogueOperations } from './resources/catalogue.ts'
import { clusterOperations } from './resources/cluster.ts'
import { clusterActionOperations } from './resources/cluster-actions.ts'
import { clusterPartOperations } from './resources/cluster-parts.ts'
import { commitOperations } from './resources/commit.ts'
import { copyOperations } from './resources/copy.ts'
import { credentialsOperations } from './resources/credentials.ts'
import { customRoleOperations } from './resources/custom-role.ts'
import { deploymentComparisonOperations } from './resources/deployment-comparison.ts'
import { deploymentHistoryOperations } from './resources/deployment-history.ts'
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
import { rightsOperations } from './resources/rights.ts'
import { annotationsGroupOperations, labelsGroupOperations } from './resources/tag-group.ts'
import { terraformExportOperations } from './resources/terraform-export.ts'
import { trafficOperations } from './resources/traffic.ts'
import { variableOperations } from './resources/variable-operations.ts'
import { variableUseOperations } from './resources/variable-use.ts'
import { webhookOperations } from './resources/webhook.ts'
import { operationsIn } from './services/kind-operations.ts'
import { kindNames } from './services/kinds.ts'
import { matrix } from './services/matrix.ts'
import {
  environmentLinkOperations,
  imagePreviewOperations,
  terraformVersionOperations,
} from './services/special-operations.ts'

/** The OpenAPI document lists some operations in the order of the names of kinds. */
const byName = kindNames.toSorted()

export const contract = {
  ...organizationOperations,
  ...organizationEventOperations,
  ...apiTokenOperations,
  ...memberOperations,
  ...rightsOperations,
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
  ...operationsIn('commits', matrix),
  ...operationsIn('chartCommits', matrix),
  ...operationsIn('contributors', matrix),
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
  ...terraformExportOperations,
  ...copyOperations,
  ...deploymentHistoryOperations,
  ...deploymentComparisonOperations,
  ...canaryOperations,
  ...operationsIn('history', matrix),
  ...overviewOperations,
  ...trafficOperations,
  ...variableOperations('Environment', '/environment/{environmentId}', 'environment'),
  ...operationsIn('services', matrix),
  ...environmentLinkOperations,
  ...operationsIn('databases', matrix),
  ...operationsIn('charts', matrix),
  ...terraformVersionOperations,
  ...operationsIn('stacks', matrix),
  ...operationsIn('jobs', matrix),
  ...operationsIn('images', matrix),
  ...imagePreviewOperations,
  ...operationsIn('backups', matrix),
  ...operationsIn('variables', matrix),
  ...operationsIn('imports', matrix),
  ...anyVariableOperations,
  ...variableUseOperations,
  ...operationsIn('advancedSettings', matrix, byName),
  ...operationsIn('restrictions', matrix, byName),
  ...operationsIn('customDomains', matrix),
  ...operationsIn('singleCustomDomains', matrix),
  ...operationsIn('domainCertificates', matrix),
  ...operationsIn('networks', matrix),
} as const satisfies Record<string, Operation>

export type Contract = typeof contract
export type OperationName = keyof Contract
/** Operations that always refuse need no handler. */
export type HandlerName = Exclude<Contract[OperationName]['handler'], 'refuse'>

export * from './operation.ts'
export type { Static } from './schema.ts'
