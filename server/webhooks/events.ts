import type { WebhookEvent } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import {
  type DeploymentFacts,
  type DeploymentPayload,
  findFacts,
  findPlaceOfService,
  insertEvent,
} from './event-store.ts'

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

/** A check of a stack that found a change from outside. */
export interface Drift {
  readonly serviceId: string
  readonly runId: string
  /** The changes, for people. */
  readonly lines: readonly string[]
}

/** Records that a stack has drifted, in the transaction of the check. */
export async function recordDriftEvent(sql: Sql, { serviceId, runId, lines }: Drift, now: Date): Promise<void> {
  const place = await findPlaceOfService(sql, serviceId)
  if (!place) return
  const { name, ...around } = place
  const type = 'STACK_DRIFTED'
  const target = { id: serviceId, name, kind: 'terraform', status: statuses[type], reason: lines.join('\n') }
  const facts = { ...around, request_id: runId, execution_id: runId, targets: [target] }
  await insertEvent(sql, {
    id: newId(),
    organization_id: facts.organization.id,
    project_id: facts.project.id,
    environment_id: facts.environment.id,
    type,
    payload_id: runId,
    payload: toPayload(type, facts),
    created_at: now,
  })
}

const statuses: Record<WebhookEvent, string> = {
  DEPLOYMENT_STARTED: 'DEPLOYING',
  DEPLOYMENT_SUCCESSFUL: 'DEPLOYED',
  DEPLOYMENT_FAILURE: 'DEPLOYMENT_ERROR',
  DEPLOYMENT_CANCELLED: 'CANCELED',
  STACK_DRIFTED: 'OUT_OF_DATE',
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
