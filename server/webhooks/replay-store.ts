import type { Sql } from '../database/index.ts'

/**
 * Locks a webhook, so that two replays do not begin at the same time, and a check of its row holds
 * until the transaction ends. Undefined if the organization has no such webhook.
 */
export async function lockWebhook(
  sql: Sql,
  organizationId: string,
  id: string,
): Promise<{ readonly enabled: boolean } | undefined> {
  const [row] = await sql<{ enabled: boolean }[]>`
    select enabled from webhook where id = ${id} and organization_id = ${organizationId} for no key update`
  return row
}

/** Returns whether a delivery of this event to this webhook is pending. */
export async function isEventPending(sql: Sql, webhookId: string, eventId: string): Promise<boolean> {
  const rows = await sql`
    select from webhook_delivery
    where webhook_id = ${webhookId} and event_id = ${eventId} and state = 'pending' limit 1`
  return rows.length > 0
}

/** Counts the replays of a webhook that were requested after this time. */
export async function countReplays(sql: Sql, webhookId: string, after: Date): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from webhook_delivery
    where webhook_id = ${webhookId} and is_replay and created_at > ${after}`
  return row?.count ?? 0
}

export async function insertReplay(
  sql: Sql,
  row: { readonly id: string; readonly webhook_id: string; readonly event_id: string },
  now: Date,
): Promise<void> {
  const { id, webhook_id, event_id } = row
  await sql`
    insert into webhook_delivery (id, webhook_id, event_id, event_seq, created_at, next_attempt_at, is_replay)
    select ${id}, ${webhook_id}, e.id, e.seq, ${now}, ${now}, true from event e where e.id = ${event_id}`
}
