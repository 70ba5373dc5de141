import { createHash } from 'node:crypto'
import type { Database, Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Cell, Vault } from '../vault/index.ts'
import { deleteKept, findKept, insertKey, setReply } from './kept-reply-store.ts'

const keptMs = 24 * 60 * 60 * 1000

/** A request with an idempotency key. */
export interface RequestKey {
  /** The id of the token or the account. */
  readonly caller: string
  readonly key: string
  /** The content that identifies the request: operation, path, query and body. */
  readonly request: string
}

/** The reply of the first request with a key. */
export interface KeptReply {
  readonly status: number
  readonly body: string | undefined
}

interface Options {
  readonly vault: Vault
  readonly clock: Clock
}

const cellOf = ({ caller, key }: Pick<RequestKey, 'caller' | 'key'>): Cell => ({
  table: 'kept_reply',
  row: `${caller} ${key}`,
  column: 'body',
})

/**
 * Takes the key for this request, inside its transaction. Returns undefined if the key is free, and
 * the stored reply if the same request was answered within a day. Throws 409 if the key belongs to
 * a different request. Waits while a request with the same key is in progress.
 */
export async function takeKey({ vault, clock }: Options, sql: Sql, asked: RequestKey): Promise<KeptReply | undefined> {
  const { caller, key } = asked
  const request_hash = createHash('sha256').update(asked.request).digest()
  const now = clock.now()
  const cutoff = new Date(now.getTime() - keptMs)
  if (await insertKey(sql, { caller, key, request_hash, created_at: now }, cutoff)) return undefined
  const kept = await findKept(sql, caller, key)
  if (!kept || kept.status === null) {
    throw new AppError('conflict', 'Idempotency-Key: a request with this key is in progress. Try again.')
  }
  if (!kept.request_hash.equals(request_hash)) {
    const reason = 'this key was used for a request to another address or with another body. Use a new key.'
    throw new AppError('conflict', `Idempotency-Key: ${reason}`)
  }
  const { organization_id: organizationId, body, status } = kept
  if (body === null || organizationId === null) return { status, body: undefined }
  return { status, body: (await vault.open(sql, organizationId, cellOf(kept), body)).reveal() }
}

/**
 * Stores the reply of a request that took its key, in the same transaction. The reply is sealed,
 * because it may hold secrets.
 */
export async function keepReply(
  { vault }: Pick<Options, 'vault'>,
  sql: Sql,
  asked: RequestKey,
  reply: KeptReply & { readonly organizationId: string },
): Promise<void> {
  const { organizationId, status } = reply
  const body = reply.body === undefined ? null : await vault.seal(sql, organizationId, cellOf(asked), reply.body)
  await setReply(sql, asked, { organization_id: organizationId, status, body })
}

/** Creates the reconciler that deletes replies after a day. */
export const createReplyPruner = ({ database, clock }: { readonly database: Database; readonly clock: Clock }) => ({
  name: 'kept replies',
  everyMs: 60_000,
  reconcile: (): Promise<void> => deleteKept(database, new Date(clock.now().getTime() - keptMs)),
})
