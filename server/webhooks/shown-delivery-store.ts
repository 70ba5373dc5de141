import type { WebhookEvent } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'

/** A delivery as the API shows it. */
export interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly created_at: Date
  readonly finished_at: Date | null
  readonly is_replay: boolean
  readonly kind: 'STANDARD' | 'SLACK'
  readonly type: WebhookEvent
  readonly target_url_used: string
  readonly request: Record<string, unknown>
  readonly response_status_code: number | null
  readonly response_body: string | null
  readonly attempts: number
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly failure: string | null
  readonly project_id: string
  /** The mode that the environment has now, or had at the event if it is gone. */
  readonly environment_mode: string
}

const shown = (sql: Sql) => sql`
  select d.id, d.event_id, d.created_at, d.finished_at, d.is_replay, w.kind, e.type, d.response_status_code,
    coalesce(d.target_url_used, w.target_url) as target_url_used, e.payload as request, d.response_body, d.attempts,
    d.state, d.failure, e.project_id,
    coalesce(n.mode, e.payload #>> '{environment,mode}', '') as environment_mode
  from webhook_delivery d join webhook w on w.id = d.webhook_id join event e on e.id = d.event_id
    left join environment n on n.id = e.environment_id`

export const listDeliveries = (sql: Sql, webhookId: string, count: number) =>
  sql<DeliveryRow[]>`
    ${shown(sql)} where d.webhook_id = ${webhookId} order by d.created_at desc, d.id desc limit ${count}`

export async function findDelivery(sql: Sql, webhookId: string, id: string): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`${shown(sql)} where d.webhook_id = ${webhookId} and d.id = ${id}`
  return row
}

/** Returns the fields of a delivery in the API. */
export const deliveryRecord = ({
  type,
  response_status_code,
  response_body,
  project_id: _project,
  environment_mode: _mode,
  ...row
}: DeliveryRow) => ({
  ...row,
  matched_event: type,
  target_response_status_code: response_status_code ?? 0,
  target_response_body: response_body ?? row.failure ?? '',
})
