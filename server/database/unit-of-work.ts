import { AsyncLocalStorage } from 'node:async_hooks'
import type postgres from 'postgres'
import { type Clock, systemClock } from '../lib/clock.ts'
import type { Database, Sql } from './database.ts'
import { gaveWay } from './database-error.ts'

const attempts = 5

/** The one transaction of everything that a request changes. */
interface Unit {
  readonly database: Database
  readonly sql: postgres.TransactionSql
  readonly afterwards: (() => void)[]
  /** The error of a failed part. The whole is then rolled back, even if the error was caught. */
  failure: { readonly error: unknown } | undefined
}

const current = new AsyncLocalStorage<Unit>()
type Begin = (work: (sql: postgres.TransactionSql) => Promise<unknown>, owner: string | undefined) => Promise<unknown>

export interface UnitOptions {
  readonly clock?: Clock
  readonly random?: () => number
  /**
   * The owner whose share of the connections it uses, such as an organization. A unit without one
   * is its own owner.
   */
  readonly owner?: string
}

/** Opens transactions of units, for every pool that supports units. */
const begins = new WeakMap<Database, Begin>()

const unitOf = (database: Database): Unit | undefined => {
  const unit = current.getStore()
  return unit?.database === database ? unit : undefined
}

/**
 * Runs `work` as one transaction. Statements that it sends to `database`, and its
 * `inTransaction(database, …)`, take part in it from any function. Everything is rolled back if
 * `work` throws, or if a part of it failed and the error was caught. If PostgreSQL aborts it in
 * favour of another transaction, all of `work` runs again, at most five times, so notifications
 * belong into `afterCommit`. A nested unit of the same database is a part of it.
 *
 * Other asynchronous contexts are unaffected. Statements that are sent after the end of the unit
 * are rejected.
 */
export async function unitOfWork<T>(database: Database, work: () => Promise<T>, options: UnitOptions = {}): Promise<T> {
  if (unitOf(database)) return work()
  const begin = begins.get(database)
  if (!begin) throw new Error('units of work need a pool of openDatabase')
  const { clock = systemClock, random = Math.random, owner } = options
  for (let attempt = 1; ; attempt++) {
    const run: { unit?: Unit; value?: { readonly of: T } } = {}
    try {
      await begin(async (sql) => {
        run.unit = { database, sql, afterwards: [], failure: undefined }
        run.value = { of: await current.run(run.unit, work) }
        if (run.unit.failure) throw run.unit.failure.error
      }, owner)
    } catch (error) {
      const again = gaveWay(error) || gaveWay(run.unit?.failure?.error)
      if (!again || attempt === attempts) throw error
      await clock.sleep(random() * 10 * 2 ** attempt)
      continue
    }
    for (const tell of run.unit?.afterwards ?? []) tell()
    if (run.value) return run.value.of
    throw Object.assign(new Error('the transaction ended without its work'), { code: 'CONNECTION_CLOSED' })
  }
}

/**
 * Runs `work` once the unit of work is committed, never if it is rolled back, and at once without a
 * unit.
 */
export function afterCommit(work: () => void): void {
  const unit = current.getStore()
  if (unit) unit.afterwards.push(work)
  else work()
}

/**
 * Runs `work` outside the unit of work: its statements take no part and only see committed data.
 */
export const outsideUnit = <T>(work: () => T): T => current.exit(work)

/** Runs a transaction as a part of the unit of work. Undefined without a unit. */
export function joinUnit<T>(database: Database, work: (sql: Sql) => T): Promise<Awaited<T>> | undefined {
  const unit = unitOf(database)
  return unit && join(unit, work)
}

async function join<T>(unit: Unit, work: (sql: postgres.TransactionSql) => T): Promise<Awaited<T>> {
  try {
    return await work(unit.sql)
  } catch (error) {
    unit.failure ??= { error }
    throw error
  }
}

/** The members that a transaction shares with the pool, by name. */
const shared: ReadonlySet<PropertyKey> = new Set(['array', 'file', 'json', 'typed', 'types', 'unsafe'])

/**
 * Returns the pool with statements that take part in the current unit of work. `begin` opens the
 * transactions of units.
 */
export function withUnits(pool: Database, begin: Begin): Database {
  const database: Database = new Proxy(pool, {
    apply: (target, self, args) => Reflect.apply(unitOf(database)?.sql ?? target, self, args),
    get: (target, name) => {
      const unit = unitOf(database)
      if (!unit) return Reflect.get(target, name)
      if (name === 'begin') return (...args: unknown[]) => join(unit, workOf(args))
      if (name === 'notify') {
        return (channel: string, payload: string) => unit.sql`select pg_notify(${channel}, ${payload})`
      }
      return Reflect.get(shared.has(name) ? unit.sql : target, name)
    },
  })
  begins.set(database, begin)
  return database
}

/**
 * Wraps the last argument of the driver's `begin`, which waits for each member of a returned array.
 */
function workOf(args: readonly unknown[]): (sql: postgres.TransactionSql) => unknown {
  const work = args.at(-1)
  if (typeof work !== 'function') throw new Error('a transaction needs work')
  return async (sql) => {
    const result: unknown = await work(sql)
    return Array.isArray(result) ? Promise.all(result) : result
  }
}
