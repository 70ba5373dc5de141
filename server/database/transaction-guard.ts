import type postgres from 'postgres'
import { giveWhole } from './whole-results.ts'

type State = 'open' | 'suspect' | 'over'
interface Transaction {
  state: State
}
type Begin = (options: string, work: (sql: postgres.TransactionSql) => unknown) => Promise<unknown>

/**
 * Makes transactions of a pool safe against a lost connection. The driver alone (3.4.9) continues a
 * transaction whose connection closed: it sends the next statements over the replacement
 * connection, outside any transaction, or it ends the process by writing to a closed socket. The
 * guard rejects statements of a transaction that is over, and does not send the driver's rollback
 * or commit.
 *
 * open: statements are sent. suspect: a connection of the pool has closed, and whose it was is
 * known when the waiting promises have run. over: its work has ended, or its connection is lost.
 */
export class TransactionGuard {
  readonly #running = new Set<Transaction>()

  /** Must be called when a connection of the pool closed. */
  connectionClosed(): void {
    for (const transaction of this.#running) if (transaction.state === 'open') transaction.state = 'suspect'
    setImmediate(() => this.#clearSuspicion())
  }

  /** Replaces the driver's `begin`. */
  async begin(driversBegin: Begin, options: string, work: (sql: postgres.TransactionSql) => unknown): Promise<unknown> {
    const transaction: Transaction = { state: 'open' }
    this.#running.add(transaction)
    try {
      return await driversBegin(options, async (sql) => {
        try {
          return await settle(transaction, () => work(guard(sql, transaction)))
        } finally {
          // Other work of the transaction must not send a statement after the driver's commit or
          // rollback.
          transaction.state = 'over'
        }
      })
    } finally {
      // One connection closes at a time, so if it was this transaction's, it was no other's.
      if (transaction.state === 'suspect') this.#clearSuspicion()
      transaction.state = 'over'
      this.#running.delete(transaction)
    }
  }

  #clearSuspicion(): void {
    for (const transaction of this.#running) if (transaction.state === 'suspect') transaction.state = 'open'
  }
}

/**
 * Returns the result of `work`. If the connection was lost, never settles, so that the driver
 * neither commits nor rolls back.
 */
async function settle(transaction: Transaction, work: () => unknown): Promise<unknown> {
  try {
    const result = await work()
    if (transaction.state !== 'open') await afterWaitingPromises()
    return transaction.state === 'over' ? await never : result
  } catch (error) {
    await afterWaitingPromises()
    if (transaction.state === 'over') await never
    throw error
  }
}

const afterWaitingPromises = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const never = new Promise<never>(() => {})

const refused = (): Error =>
  Object.assign(new Error('the transaction is over, or its connection was lost'), { code: 'CONNECTION_CLOSED' })

function guard(sql: postgres.TransactionSql, transaction: Transaction): postgres.TransactionSql {
  return new Proxy(sql, {
    apply: (target, self, args) => {
      if (transaction.state !== 'open') throw refused()
      return giveWhole(Reflect.apply(target, self, args))
    },
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (transaction.state !== 'open') throw refused()
        const guarded = name === 'savepoint' ? args.map((arg) => guardWork(arg, transaction)) : args
        return giveWhole(Reflect.apply(value, target, guarded))
      }
    },
  })
}

const guardWork = (work: unknown, transaction: Transaction): unknown =>
  typeof work === 'function'
    ? (sql: postgres.TransactionSql) => settle(transaction, () => work(guard(sql, transaction)))
    : work
