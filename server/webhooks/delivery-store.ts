import type { WebhookEvent, WebhookEventSpelling } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import type { DeploymentPayload } from './event-store.ts'
import { giveUpPending } from './webhook-store.ts'

interface UndispatchedRow {
  readonly id: string
  readonly seq: number
  readonly organization_id: string
  readonly type: WebhookEvent
  readonly payload: DeploymentPayload
}

/** An SQL expression: whether events or due deliveries exist. */
export const isDeliveryDue = (sql: Sql, now: Date) => sql`(exists (select from event where dispatched_at is null)
  or exists (select from webhook_delivery where state = 'pending' and next_attempt_at <= ${now}))`

export const listUndispatched = (sql: Sql, count: number) =>
  sql<UndispatchedRow[]>`
    select id, seq, organization_id, type, payload from event where dispatched_at is null
    order by seq limit ${count} for update skip locked`

/** Inserts one delivery per webhook. A second try for the same event inserts none. */
export async function insertDeliveries(
  sql: Sql,
  event: { id: string; seq: number },
  webhookIds: readonly string[],
  now: Date,
): Promise<void> {
  if (webhookIds.length > 0) {
    const rows = webhookIds.map((webhook_id) => ({
      id: newId(),
      webhook_id,
      event_id: event.id,
      event_seq: event.seq,
      created_at: now,
      next_attempt_at: now,
    }))
    await sql`insert into webhook_delivery ${sql(rows)} on conflict (webhook_id, event_id) where not is_replay
      do nothing`
  }
  await sql`update event set dispatched_at = ${now} where id = ${event.id}`
}

export interface DueRow {
  readonly id: string
  readonly webhook_id: string
  readonly attempts: number
  readonly is_replay: boolean
  readonly event_id: string
  readonly type: WebhookEvent
  readonly event_created_at: Date
  readonly payload_id: string
  readonly payload: DeploymentPayload
  readonly organization_id: string
  readonly kind: 'STANDARD' | 'SLACK'
  readonly target_url: string
  readonly events: WebhookEventSpelling[]
  readonly sealed_target_secret: string | null
  readonly sealed_signing_secret: string
  readonly failing_since: Date | null
}

/**
 * Claims due deliveries, at most one per webhook and the oldest event first, so that a webhook gets
 * its events in order. A claim lasts until `until`. If a process dies, the next one delivers.
 * `sending` contains the organization of each delivery in progress. Organizations take turns, and
 * each has at most `share` deliveries in progress.
 */
export const claimDue = (
  sql: Sql,
  {
    now,
    until,
    count,
    share,
    sending,
  }: {
    readonly now: Date
    readonly until: Date
    readonly count: number
    readonly share: number
    readonly sending: readonly string[]
  },
) =>
  sql<DueRow[]>`
    with candidate as (
      select d.id, row_number() over (partition by w.organization_id order by d.next_attempt_at)
        + (select count(*) from unnest(${[...sending]}::uuid[]) busy where busy = w.organization_id) as place
      from webhook_delivery d join webhook w on w.id = d.webhook_id
      where d.state = 'pending' and d.next_attempt_at <= ${now} and w.enabled
        and not exists (select from webhook_delivery p
          where p.webhook_id = d.webhook_id and p.state = 'pending' and p.event_seq < d.event_seq)),
    due as (
      select d.id from webhook_delivery d join candidate c on c.id = d.id
      where c.place <= ${share} and d.state = 'pending' and d.next_attempt_at <= ${now}
      order by c.place, d.next_attempt_at limit ${count} for update of d skip locked),
    claimed as (
      update webhook_delivery d set next_attempt_at = ${until}, attempts = d.attempts + 1 from due
      where d.id = due.id returning d.id, d.webhook_id, d.event_id, d.attempts, d.is_replay)
    select c.*, e.type, e.created_at as event_created_at, e.payload_id, e.payload, w.organization_id, w.kind,
      w.target_url, w.events, w.sealed_target_secret, w.sealed_signing_secret, w.failing_since
    from claimed c join event e on e.id = c.event_id join webhook w on w.id = c.webhook_id`

/**
 * Locks the webhook before its delivery, in the same order as a deletion of the webhook, which
 * avoids a deadlock.
 */
export async function markDelivered(
  sql: Sql,
  row: DueRow,
  { status, body }: { readonly status: number; readonly body: string | undefined },
  now: Date,
): Promise<void> {
  await sql`update webhook set failing_since = null where id = ${row.webhook_id} and failing_since is not null`
  await sql`
    update webhook_delivery set state = 'delivered', response_status_code = ${status}, failure = null,
      response_body = ${body ?? null},
      target_url_used = ${row.target_url}, finished_at = ${now} where id = ${row.id}`
}

export interface Failed {
  readonly status: number | undefined
  readonly failure: string
  /** The receiver's answer in the form that the API shows. Undefined without an answer. */
  readonly body: string | undefined
  /** Undefined if it is not retried. */
  readonly again: Date | undefined
  /** Whether the webhook itself is disabled. */
  readonly disable: boolean
}

/** Changes nothing if the delivery was meanwhile cancelled or claimed again. */
export async function markFailed(sql: Sql, row: DueRow, failed: Failed, now: Date): Promise<void> {
  const { status, failure, body, again, disable } = failed
  await sql`
    update webhook set failing_since = coalesce(failing_since, ${now}), enabled = enabled and not ${disable}
    where id = ${row.webhook_id}`
  await sql`
    update webhook_delivery set state = ${again ? 'pending' : 'failed'}, response_status_code = ${status ?? null},
      failure = ${failure}, response_body = ${body ?? null}, target_url_used = ${row.target_url}, next_attempt_at =
      ${again ?? now},
      finished_at = ${again ? null : now}
    where id = ${row.id} and state = 'pending' and attempts = ${row.attempts}`
  if (disable) await giveUpPending(sql, row.webhook_id, 'The webhook was disabled because its receiver failed.', now)
}
