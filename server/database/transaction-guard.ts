import type postgres from 'postgres'
import { giveWhole } from './whole-results.ts'

type State = 'open' | 'suspect' | 'over'
interface Transaction {
  state: State
}
type Begin = (options: string, work: (sql: postgres.TransactionSql) => unknown) => Promise<unknown>

/**
 * Makes transactions of a pool safe against a lost connection. By itself the driver (3.4.9) goes on with a transaction whose
 * connection closed: it sends the next statements, outside any transaction, over the connection that was made in its place, or ends
 * the process by writing to a socket that is no more. Guarded, statements of a transaction that is over are refused, and the
 * driver's own rollback or commit is not sent.
 *
 * open: statements are sent. suspect: some connection of the pool has closed, whose is known when the promises that wait for it
 * have run. over: its work has ended, well or not, or its connection is lost.
 */
export class TransactionGuard {
  readonly #running = new Set<Transaction>()

  /** To be called when a connection of the pool closed. */
  connectionClosed(): void {
    for (const transaction of this.#running) if (transaction.state === 'open') transaction.state = 'suspect'
    setImmediate(() => this.#clearSuspicion())
  }

  /** In place of the driver's `begin`. */
  async begin(driversBegin: Begin, options: string, work: (sql: postgres.TransactionSql) => unknown): Promise<unknown> {
    const transaction: Transaction = { state: 'open' }
    this.#running.add(transaction)
    try {
      return await driversBegin(options, async (sql) => {
        try {
          return await settle(transaction, () => work(guard(sql, transaction)))
        } finally {
          // What else was begun with it must not get a statement in behind the driver's commit or rollback.
          transaction.state = 'over'
        }
      })
    } finally {
      // one connection closes at a time: where it was this transaction's, it was no other's
      if (transaction.state === 'suspect') this.#clearSuspicion()
      transaction.state = 'over'
      this.#running.delete(transaction)
    }
  }

  #clearSuspicion(): void {
    for (const transaction of this.#running) if (transaction.state === 'suspect') transaction.state = 'open'
  }
}

/** What `work` gave, unless the connection was lost: then never, so that the driver neither commits nor rolls back. */
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
