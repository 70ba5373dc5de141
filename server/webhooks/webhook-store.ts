import type { WebhookEventSpelling } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'
import type { EnvironmentMode } from '../organizations/index.ts'

export interface WebhookRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly kind: 'STANDARD' | 'SLACK'
  readonly target_url: string
  readonly sealed_target_secret: string | null
  readonly sealed_signing_secret: string
  readonly description: string
  readonly enabled: boolean
  /** As registered. */
  readonly events: WebhookEventSpelling[]
  readonly project_names_filter: string[]
  readonly environment_types_filter: EnvironmentMode[]
  readonly failing_since: Date | null
}

export type WebhookValues = Pick<
  WebhookRow,
  'kind' | 'target_url' | 'description' | 'enabled' | 'events' | 'project_names_filter' | 'environment_types_filter'
> & { readonly sealed_target_secret?: string | null; readonly sealed_signing_secret?: string }

export const listWebhooks = (sql: Sql, organizationId: string) =>
  sql<WebhookRow[]>`select * from webhook where organization_id = ${organizationId} order by created_at, id`

export async function findWebhook(sql: Sql, organizationId: string, id: string): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`
    select * from webhook where id = ${id} and organization_id = ${organizationId}`
  return row
}

export async function insertWebhook(
  sql: Sql,
  row: WebhookValues & { id: string; organization_id: string; sealed_signing_secret: string },
  now: Date,
): Promise<void> {
  await takeRoom(sql, 'webhooks', row.organization_id)
  await sql`insert into webhook ${sql({ ...row, created_at: now, updated_at: now })}`
}

/** Replaces a webhook and resets its failures. */
/** Locks a webhook, so that a check of its row holds until the transaction ends. */
export async function lockWebhook(sql: Sql, organizationId: string, id: string): Promise<void> {
  await sql`select id from webhook where id = ${id} and organization_id = ${organizationId} for no key update`
}

export async function updateWebhook(sql: Sql, id: string, values: WebhookValues, now: Date): Promise<void> {
  await sql`
    update webhook set ${sql({ ...values, updated_at: now, failing_since: null })}, version = version + 1
    where id = ${id}`
  if (!values.enabled) await giveUpPending(sql, id, 'The webhook was disabled.', now)
}

export async function deleteWebhook(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from webhook where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}

/** Cancels the pending deliveries of this webhook. */
export async function giveUpPending(sql: Sql, webhookId: string, failure: string, now: Date): Promise<void> {
  await sql`
    update webhook_delivery set state = 'failed', failure = ${failure}, finished_at = ${now}
    where webhook_id = ${webhookId} and state = 'pending'`
}
