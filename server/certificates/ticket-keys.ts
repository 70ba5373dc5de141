import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'

/** The length of a key for session tickets in Node.js. */
const keyBytes = 48
const rotateMs = 12 * 3600_000

/** The key of session tickets, in base64, and a text that differs if the key does. */
export interface TicketKey {
  readonly key: string
  readonly mark: string
}

/**
 * Creates the keys of session tickets. A key is random, replaced after twelve hours, and exists in
 * memory only: who gets it can read recorded sessions of TLS 1.2 that it resumed. Routers that
 * follow each other get the same key, so clients resume their sessions after a hand-over.
 */
export function createTicketKeys(clock: Pick<Clock, 'monotonic'>): () => TicketKey {
  let current: (TicketKey & { readonly madeAtMs: number }) | undefined
  return () => {
    const nowMs = clock.monotonic()
    if (current && nowMs - current.madeAtMs < rotateMs) return current
    const bytes = randomBytes(keyBytes)
    const mark = createHash('sha256').update(bytes).digest('base64url')
    current = { key: bytes.toString('base64'), mark, madeAtMs: nowMs }
    return current
  }
}
