import type { WebhookEvent } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { type DeploymentFacts, type DeploymentPayload, findFacts, insertEvent } from './event-store.ts'

/**
 * Records an event of a deployment in the transaction of the change itself, so an event exists if
 * and only if its change does. The reconciler of this room delivers it.
 */
export async function recordDeploymentEvent(sql: Sql, type: WebhookEvent, requestId: string, now: Date): Promise<void> {
  const facts = await findFacts(sql, requestId)
  if (!facts) return
  await insertEvent(sql, {
    id: newId(),
    organization_id: facts.organization.id,
    project_id: facts.project.id,
    environment_id: facts.environment.id,
    type,
    payload_id: requestId,
    payload: toPayload(type, facts),
    created_at: now,
  })
}

const statuses: Record<WebhookEvent, string> = {
  DEPLOYMENT_STARTED: 'DEPLOYING',
  DEPLOYMENT_SUCCESSFUL: 'DEPLOYED',
  DEPLOYMENT_FAILURE: 'DEPLOYMENT_ERROR',
  DEPLOYMENT_CANCELLED: 'CANCELED',
}

const longestLine = 1000
const mostLines = 50

/** Builds the message for receivers. */
export function toPayload(type: WebhookEvent, facts: DeploymentFacts): DeploymentPayload {
  const of = (kind: string) =>
    facts.targets.filter((target) => target.kind === kind).map(({ id, name, status }) => ({ id, name, status }))
  const applications = of('application')
  const lines = facts.targets.flatMap(({ name, reason }) =>
    (reason ?? '').split('\n').map((line) => [name, line] as const),
  )
  return {
    application_id: applications[0]?.id ?? facts.targets[0]?.id ?? facts.request_id,
    id: facts.request_id,
    deployment_id: facts.execution_id,
    current_status: statuses[type],
    desired_status: 'DEPLOYED',
    organization: facts.organization,
    project: facts.project,
    environment: facts.environment,
    applications,
    containers: of('container'),
    databases: of('database'),
    jobs: of('job'),
    helms: of('helm'),
    terraforms: of('terraform'),
    logs: lines
      .filter(([, line]) => line !== '')
      .slice(0, mostLines)
      .map(([name, line]) => `${name}: ${line}`.slice(0, longestLine)),
  }
}
