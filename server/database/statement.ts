import type { Database } from './database.ts'

export type Send = (statement: Statement) => void

/**
 * The part of the driver's statements that decides when and where they are sent. Written for
 * version 3.4.9 of the driver: a statement calls its `handler` when it is first awaited. Cursors
 * never settle and would keep their slot.
 */
export interface Statement extends Promise<unknown> {
  handler: Send
  reject: (error: unknown) => void
}

export const isStatement = (made: unknown): made is Statement =>
  made instanceof Promise && typeof Reflect.get(made, 'handler') === 'function'

/** Returns the function that sends statements over a pool, whatever pool made them. */
export function sendOver(pool: Database): Send {
  // All statements of a pool have the same handler. This one is never sent.
  const made: unknown = pool.unsafe('')
  if (!isStatement(made)) throw new Error('the driver of PostgreSQL has no handler of statements')
  return made.handler
}
