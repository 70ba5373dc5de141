import type { WebhookEvent } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'

/** An event of a deployment, as receivers get it. */
export interface EventRow {
  readonly id: string
  readonly seq: number
  readonly organization_id: string
  readonly project_id: string
  readonly environment_id: string
  readonly type: WebhookEvent
  readonly payload_id: string
  readonly payload: DeploymentPayload
  readonly created_at: Date
}

export interface DeploymentPayload {
  /** The first application of the deployment; without one, its first service. */
  readonly application_id: string
  /** The deployment request. */
  readonly id: string
  readonly deployment_id: string
  readonly current_status: string
  readonly desired_status: string
  readonly organization: { readonly id: string; readonly name: string }
  readonly project: { readonly id: string; readonly name: string }
  readonly environment: {
    readonly id: string
    readonly name: string
    readonly mode: string
    readonly cluster_name: string
  }
  readonly applications: readonly ServiceSummary[]
  readonly containers: readonly ServiceSummary[]
  readonly databases: readonly ServiceSummary[]
  readonly jobs: readonly ServiceSummary[]
  readonly helms: readonly ServiceSummary[]
  readonly terraforms: readonly ServiceSummary[]
  /** Why services failed: one entry per line. */
  readonly logs: readonly string[]
}

export interface ServiceSummary {
  readonly id: string
  readonly name: string
  readonly status: string
}

export interface DeploymentFacts {
  readonly request_id: string
  readonly execution_id: string
  readonly organization: DeploymentPayload['organization']
  readonly project: DeploymentPayload['project']
  readonly environment: DeploymentPayload['environment']
  readonly targets: readonly (ServiceSummary & { readonly kind: string; readonly reason: string | null })[]
}

/** Loads the facts for an event of this request, as of this moment of the transaction. */
export async function findFacts(sql: Sql, requestId: string): Promise<DeploymentFacts | undefined> {
  const [row] = await sql<DeploymentFacts[]>`
    select r.id as request_id, r.execution_id,
      jsonb_build_object('id', o.id, 'name', o.name) as organization,
      jsonb_build_object('id', p.id, 'name', p.name) as project,
      jsonb_build_object('id', e.id, 'name', e.name, 'mode', e.mode, 'cluster_name', c.name) as environment,
      (select coalesce(jsonb_agg(jsonb_build_object('id', t.service_id, 'name', t.name, 'kind', t.kind,
          'status', t.state, 'reason', t.reason) order by t.stage_order, t.service_seq), '[]')
        from deployment_target t where t.request_id = r.id) as targets
    from deployment_request r join environment e on e.id = r.environment_id join cluster c on c.id = e.cluster_id
      join project p on p.id = e.project_id join organization o on o.id = p.organization_id
    where r.id = ${requestId}`
  return row
}

/** Loads the place of a service for an event, with its name. */
export async function findPlaceOfService(
  sql: Sql,
  serviceId: string,
): Promise<
  (Pick<DeploymentFacts, 'organization' | 'project' | 'environment'> & { readonly name: string }) | undefined
> {
  const [row] = await sql<(Pick<DeploymentFacts, 'organization' | 'project' | 'environment'> & { name: string })[]>`
    select s.name, jsonb_build_object('id', o.id, 'name', o.name) as organization,
      jsonb_build_object('id', p.id, 'name', p.name) as project,
      jsonb_build_object('id', e.id, 'name', e.name, 'mode', e.mode, 'cluster_name', c.name) as environment
    from service s join environment e on e.id = s.environment_id join cluster c on c.id = e.cluster_id
      join project p on p.id = e.project_id join organization o on o.id = p.organization_id
    where s.id = ${serviceId}`
  return row
}

/** Writes the event once. A second one of the same kind for the same deployment changes nothing. */
export async function insertEvent(sql: Sql, row: Omit<EventRow, 'seq'>): Promise<void> {
  await sql`
    insert into event (id, organization_id, project_id, environment_id, type, payload_id, payload, created_at)
    values (${row.id}, ${row.organization_id}, ${row.project_id}, ${row.environment_id}, ${row.type}, ${row.payload_id},
      ${sql.json({ ...row.payload } as never)}, ${row.created_at})
    on conflict (payload_id, type) do nothing`
}
