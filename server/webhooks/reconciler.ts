import { type Database, type DueReconciler, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Logger } from '../lib/log.ts'
import { type SafeFetch, SafeFetchError } from '../lib/safe-fetch.ts'
import type { Vault } from '../vault/index.ts'
import {
  claimDue,
  type DueRow,
  insertDeliveries,
  isDeliveryDue,
  listUndispatched,
  markDelivered,
  markFailed,
} from './delivery-store.ts'
import { wants } from './filter.ts'
import { bodyOf, signatureHeaders, signingKey } from './message.ts'
import { disableAfterMs, nextAttempt } from './schedule.ts'
import { shownAnswer } from './shown-answer.ts'
import { listWebhooks } from './webhook-store.ts'

export interface WebhookReconcilerOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly log: Logger
  readonly safeFetch: SafeFetch
  /** From 0 to 1; default Math.random. */
  readonly random?: () => number
}

const timeoutMs = 15_000
/** Longer than any delivery takes. */
const claimMs = 20_000
const batch = 50
/** Concurrent deliveries of one organization. Its slow receivers must leave room for others. */
const share = 20

/**
 * Turns events into deliveries and sends due ones: at least once, under the same id, in order for
 * each webhook. A receiver that does not answer delays only its own deliveries.
 */
export function createWebhookReconciler(options: WebhookReconcilerOptions): DueReconciler {
  /** The organization of each delivery in progress. */
  const sending = new Map<string, string>()
  return {
    name: 'webhooks',
    everyMs: 60_000,
    due: (sql) => isDeliveryDue(sql, options.clock.now()),
    reconcile: async (signal) => {
      while ((await dispatch(options)) === batch) signal.throwIfAborted()
      const { database, clock, log } = options
      const free = batch - sending.size
      if (free <= 0) return
      const now = clock.now()
      const until = new Date(now.getTime() + claimMs)
      const wanted = { now, until, count: free, share, sending: [...sending.values()] }
      const due = await inTransaction(database, (sql) => claimDue(sql, wanted))
      for (const row of due) {
        sending.set(row.id, row.organization_id)
        void deliver(options, row, signal)
          .catch((error: unknown) => log.warn({ err: error, deliveryId: row.id }, 'a delivery could not be finished'))
          .finally(() => sending.delete(row.id))
      }
    },
  }
}

/** Returns how many events were turned into deliveries. */
const dispatch = ({ database, clock }: WebhookReconcilerOptions): Promise<number> =>
  inTransaction(database, async (sql) => {
    const events = await listUndispatched(sql, batch)
    for (const event of events) {
      const webhooks = await listWebhooks(sql, event.organization_id)
      const chosen = webhooks.filter((webhook) => wants(webhook, event.type, event.payload)).map(({ id }) => id)
      await insertDeliveries(sql, event, chosen, clock.now())
    }
    return events.length
  })

interface Answer {
  readonly status: number | undefined
  readonly failure: string
  /** The answer as shown. Undefined without an answer. */
  readonly body: string | undefined
  readonly retryAfterSeconds?: number | undefined
}

async function deliver(options: WebhookReconcilerOptions, row: DueRow, signal: AbortSignal): Promise<void> {
  const { database, clock, random = Math.random } = options
  const answer = await send(options, row, signal)
  signal.throwIfAborted()
  failpoint('webhook.sent')
  const now = clock.now()
  const { status } = answer
  if (status !== undefined && status >= 200 && status < 300) {
    await inTransaction(database, (sql) => markDelivered(sql, row, { ...answer, status }, now))
    return
  }
  const failingMs = row.failing_since ? now.getTime() - row.failing_since.getTime() : 0
  const disable = status === 410 || failingMs > disableAfterMs
  // A person sees the result of a replay and asks again if that helps. Later events do not wait.
  const isLast = disable || row.is_replay
  const again = isLast ? undefined : nextAttempt(now, row.attempts, random(), answer.retryAfterSeconds)
  await inTransaction(database, (sql) => markFailed(sql, row, { ...answer, again, disable }, now))
}

/** Tries once. A problem before sending is a failure like any other. */
async function send(
  { database, vault, clock, safeFetch }: WebhookReconcilerOptions,
  row: DueRow,
  signal: AbortSignal,
): Promise<Answer> {
  const open = (column: string, sealed: string) =>
    vault.open(database, row.organization_id, { table: 'webhook', row: row.webhook_id, column }, sealed)
  const target = row.sealed_target_secret
  const given = target ? (await open('sealed_target_secret', target)).reveal() : undefined
  const secret = given ?? (await open('sealed_signing_secret', row.sealed_signing_secret)).reveal()
  const body = bodyOf(row)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Quayside-Webhooks',
    ...signatureHeaders(row.event_id, clock.now(), body, signingKey(secret)),
    ...(given ? { 'qovery-signature': given, 'qovery-secret': given } : {}),
  }
  try {
    const answer = await safeFetch(row.target_url, {
      method: 'POST',
      headers,
      body,
      timeoutMs,
      maxResponseBytes: 16_384,
      signal,
    })
    const told = Number(answer.headers['retry-after'])
    return {
      status: answer.status,
      failure: `The receiver answered ${answer.status}.`,
      body: shownAnswer(answer, [secret]),
      retryAfterSeconds: answer.status === 429 && Number.isFinite(told) ? told : undefined,
    }
  } catch (error) {
    if (error instanceof SafeFetchError) return { status: undefined, failure: error.message, body: undefined }
    throw error
  }
}
