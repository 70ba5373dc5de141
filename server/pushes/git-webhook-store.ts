import type { Sql } from '../database/index.ts'
import { takeRoom } from '../limits/index.ts'

export type WebhookProvider = 'BITBUCKET' | 'GITHUB' | 'GITLAB'

export interface GitWebhookRow {
  readonly id: string
  readonly organization_id: string
  readonly created_at: Date
  readonly updated_at: Date
  readonly provider: WebhookProvider
  readonly description: string
  readonly sealed_secret: string
}

export interface ListedGitWebhook extends GitWebhookRow {
  readonly last_delivery_at: Date | null
  readonly last_delivery_status: 'ACCEPTED' | 'IGNORED' | null
}

const listed = (sql: Sql) => sql`
  select w.*, d.received_at as last_delivery_at, d.status as last_delivery_status
  from git_webhook w left join lateral (
    select received_at, status from git_webhook_delivery where git_webhook_id = w.id order by received_at desc limit 1
  ) d on true`

export const listGitWebhooks = (sql: Sql, organizationId: string) =>
  sql<ListedGitWebhook[]>`${listed(sql)} where w.organization_id = ${organizationId} order by w.created_at, w.id`

/** Finds a webhook of that organization. */
export async function findGitWebhook(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<ListedGitWebhook | undefined> {
  const [row] = await sql<ListedGitWebhook[]>`
    ${listed(sql)} where w.id = ${id} and w.organization_id = ${organizationId}`
  return row
}

/** Finds a webhook and its organization by id alone, for incoming messages. */
export async function findReceivingWebhook(
  sql: Sql,
  provider: WebhookProvider,
  id: string,
): Promise<GitWebhookRow | undefined> {
  const [row] = await sql<GitWebhookRow[]>`select * from git_webhook where id = ${id} and provider = ${provider}`
  return row
}

export async function insertGitWebhook(sql: Sql, row: GitWebhookRow): Promise<void> {
  await takeRoom(sql, 'gitWebhooks', row.organization_id)
  await sql`insert into git_webhook ${sql({ ...row })}`
}

export async function updateGitWebhookSecret(sql: Sql, id: string, sealedSecret: string, now: Date): Promise<void> {
  await sql`update git_webhook set sealed_secret = ${sealedSecret}, updated_at = ${now} where id = ${id}`
}

export async function deleteGitWebhook(sql: Sql, organizationId: string, id: string): Promise<boolean> {
  const deleted = await sql`delete from git_webhook where id = ${id} and organization_id = ${organizationId}`
  return deleted.count === 1
}

export interface GitDeliveryRow {
  readonly git_webhook_id: string
  readonly delivery_id: string
  readonly digest: Buffer | null
  readonly received_at: Date
  readonly event: string
  readonly status: 'ACCEPTED' | 'IGNORED'
  readonly reason: string | null
}

/**
 * Returns false if the message already exists, by its id or its digest. Nothing may be done again
 * then.
 */
export async function insertGitDelivery(sql: Sql, row: GitDeliveryRow): Promise<boolean> {
  const inserted = await sql`insert into git_webhook_delivery ${sql({ ...row })} on conflict do nothing`
  return inserted.count === 1
}

/** Lists the last messages of an organization's webhook, newest first. */
export const listGitDeliveries = (sql: Sql, gitWebhookId: string, count: number) =>
  sql<GitDeliveryRow[]>`
    select * from git_webhook_delivery where git_webhook_id = ${gitWebhookId}
    order by received_at desc, delivery_id limit ${count}`

export async function deleteGitDeliveriesBefore(sql: Sql, before: Date): Promise<void> {
  await sql`delete from git_webhook_delivery where received_at < ${before}`
}
