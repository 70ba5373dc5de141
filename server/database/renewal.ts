import type { Database } from './database.ts'
import { isStatement, type Send, sendOver } from './statement.ts'

type Begin = (...args: readonly unknown[]) => Promise<unknown>

/** A pool whose connections can be replaced. */
export interface Renewable {
  readonly pool: Database
  /**
   * Closes the connections as soon as no statement or transaction is in flight. The next statements
   * open new ones.
   */
  renew(): void
}

/**
 * Returns a pool whose connections can be replaced. `open` opens the driver's pool. The pool is not
 * ended in the driver's way: the driver (3.4.9) rejects statements that were made before the end
 * and are sent later, and never reopens connections that were closed before they were opened.
 */
export function renewable(open: () => Database): Renewable {
  let current = open()
  let sendNow = sendOver(current)
  let inFlight = 0
  let isDue = false
  let closed: Promise<unknown> = Promise.resolve()

  const renewIfIdle = (): void => {
    if (!isDue || inFlight > 0) return
    isDue = false
    closed = Promise.all([closed, current.end()]).then(() => {})
    current = open()
    sendNow = sendOver(current)
  }
  const settle = (): void => {
    inFlight--
    renewIfIdle()
  }
  const count = (work: Promise<unknown>): void => {
    inFlight++
    // The driver's own `then` would send a statement again.
    Promise.prototype.then.call(work, settle, settle)
  }
  const send: Send = (statement) => {
    count(statement)
    sendNow(statement)
  }
  const redirect = <T>(made: T): T => {
    if (isStatement(made)) made.handler = send
    return made
  }
  const unsafe: Database['unsafe'] = (...args) => redirect(current.unsafe(...args))
  const begin: Begin = (...args) => {
    const work: Promise<unknown> = Reflect.apply(current.begin, undefined, args)
    count(work)
    return work
  }
  const end: Database['end'] = async (limit) => void (await Promise.all([closed, current.end(limit)]))
  const own = new Map<PropertyKey, unknown>(Object.entries({ unsafe, begin, end }))
  return {
    pool: new Proxy(current, {
      apply: (_, self, args) => redirect(Reflect.apply(current, self, args)),
      get: (_, name) => own.get(name) ?? Reflect.get(current, name),
    }),
    renew: () => {
      isDue = true
      renewIfIdle()
    },
  }
}
