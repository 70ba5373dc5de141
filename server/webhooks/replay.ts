import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { countReplays, insertReplay, isEventPending, lockWebhook } from './replay-store.ts'
import { type DeliveryRow, findDelivery } from './shown-delivery-store.ts'

const mostReplays = 10
const replaysPerMs = 60_000

interface ReplayRequest {
  readonly organizationId: string
  readonly webhookId: string
  readonly deliveryId: string
}

/**
 * Queues the event of a delivery for the same webhook again and returns the new delivery. Throws
 * 404 if the webhook has no such delivery, 409 if it cannot be sent now, and 429 after ten replays
 * within a minute.
 */
export const replayDelivery = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  request: ReplayRequest,
): Promise<DeliveryRow> => inTransaction(database, (sql) => replay(sql, clock.now(), request))

async function replay(sql: Sql, now: Date, { organizationId, webhookId, deliveryId }: ReplayRequest) {
  const webhook = await lockWebhook(sql, organizationId, webhookId)
  if (!webhook) throw notFound('webhook', webhookId)
  const delivery = await findDelivery(sql, webhookId, deliveryId)
  if (!delivery) throw notFound('delivery', deliveryId)
  if (!webhook.enabled) throw new AppError('conflict', 'The webhook is disabled. Enable it first.')
  if (await isEventPending(sql, webhookId, delivery.event_id)) {
    throw new AppError('conflict', 'The event is still being delivered. Wait until this delivery has ended.')
  }
  if ((await countReplays(sql, webhookId, new Date(now.getTime() - replaysPerMs))) >= mostReplays) {
    const message = `A webhook replays at most ${mostReplays} deliveries within a minute.`
    throw new AppError('tooManyRequests', message, { retryAfterSeconds: replaysPerMs / 1_000 })
  }
  const id = newId()
  await insertReplay(sql, { id, webhook_id: webhookId, event_id: delivery.event_id }, now)
  const created = await findDelivery(sql, webhookId, id)
  if (!created) throw new Error(`the replay ${id} was not stored`)
  return created
}
