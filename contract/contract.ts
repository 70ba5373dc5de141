/** The API as data: every operation by its public name. No I/O here; routes, checks, types, document and client follow from it. */
import type { Operation } from './operation.ts'
import { apiTokenOperations } from './resources/api-token.ts'
import { clusterOperations } from './resources/cluster.ts'
import { environmentOperations } from './resources/environment.ts'
import { gitTokenOperations } from './resources/git-token.ts'
import { organizationOperations } from './resources/organization.ts'
import { projectOperations } from './resources/project.ts'
import { variableOperations } from './resources/variable.ts'
import { webhookOperations } from './resources/webhook.ts'
import { serviceKinds } from './services/kinds.ts'
import { serviceOperations } from './services/operations.ts'

export const contract = {
  ...organizationOperations,
  ...apiTokenOperations,
  ...gitTokenOperations,
  ...webhookOperations,
  ...clusterOperations,
  ...projectOperations,
  ...variableOperations('Project', '/project/{projectId}', 'project'),
  ...environmentOperations,
  ...variableOperations('Environment', '/environment/{environmentId}', 'environment'),
  ...serviceOperations('application', serviceKinds.application),
} as const satisfies Record<string, Operation>

export type Contract = typeof contract
export type OperationName = keyof Contract
export type HandlerName = Contract[OperationName]['handler']

export * from './operation.ts'
export type { Static } from './schema.ts'
