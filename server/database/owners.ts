import { AsyncLocalStorage } from 'node:async_hooks'
import { AppError } from '../lib/error.ts'
import { createSlots, type Slots } from '../lib/slots.ts'
import type { Database } from './database.ts'

const current = new AsyncLocalStorage<string>()

/**
 * Runs `work` for an owner, such as an organization. Its statements and transactions take the
 * owner's share of the connections, so an owner with many slow ones delays no other owner. Work
 * without an owner is the platform's own and has connections of its own.
 */
export const withOwner = <T>(owner: string, work: () => T): T => current.run(owner, work)

/**
 * Runs `work` for the platform, also inside an owner's work: for what several owners wait for
 * together.
 */
export const withoutOwner = <T>(work: () => T): T => current.exit(work)

/** Returns the owner for whom the current work runs. */
export const currentOwner = (): string | undefined => current.getStore()

type Begin = (...args: readonly unknown[]) => Promise<unknown>
type Limit = { readonly timeout?: number }

/** Connections that owners share, opened when they are first needed. */
export interface SharedConnections {
  pool(): Database
  /** As many slots as connections. One owner gets only some, and others have a reserve. */
  readonly slots: Slots
  end(limit?: Limit): Promise<void>
}

const shares = { connections: 6, reserve: 1, perOwner: 4 }
/** Waiting time after which a statement or a unit of work of an owner is rejected. */
const patienceMs = 10_000

export function shareConnections(connect: (max: number) => Database): SharedConnections {
  let pool: Database | undefined
  return {
    pool: () => {
      pool ??= connect(shares.connections)
      return pool
    },
    slots: createSlots(shares.connections - shares.reserve, shares),
    end: async (limit) => pool?.end(limit),
  }
}

const takeSlot = ({ slots }: SharedConnections, owner: string): Promise<Disposable> =>
  slots.take(AbortSignal.timeout(patienceMs), owner).catch(() => {
    throw new AppError('unavailable', 'The database is overloaded. Try again in a moment.')
  })

/**
 * Opens a transaction once the owner has a connection for it. Takes the arguments of the driver's
 * `begin`.
 */
export async function beginInTurn(shared: SharedConnections, owner: string, ...args: readonly unknown[]) {
  using _ = shared.slots.takeNow(owner) ?? (await takeSlot(shared, owner))
  return await Reflect.apply(shared.pool().begin, undefined, args)
}

type Send = (statement: Statement) => void

/** The part of the driver's statements that decides when they are sent. */
interface Statement extends Promise<unknown> {
  handler: Send
  reject: (error: unknown) => void
}

const isStatement = (made: unknown): made is Statement =>
  made instanceof Promise && typeof Reflect.get(made, 'handler') === 'function'

/**
 * Makes a statement wait until its owner has a slot, which it keeps until it settles. There is a
 * connection for each slot, so no statement is queued behind another one. Written for version 3.4.9
 * of the driver: a statement calls its `handler` when it is first awaited. Cursors never settle and
 * would keep their slot.
 */
function sendInTurn<T>(shared: SharedConnections, owner: string, made: T): T {
  if (!isStatement(made)) return made
  const send = made.handler
  const sendWith = (statement: Statement, slot: Disposable): void => {
    const release = (): void => slot[Symbol.dispose]()
    // The driver's own `then` would send it once more.
    Promise.prototype.then.call(statement, release, release)
    send(statement)
  }
  made.handler = (statement) => {
    const free = shared.slots.takeNow(owner)
    if (free) sendWith(statement, free)
    else takeSlot(shared, owner).then((slot) => sendWith(statement, slot), statement.reject)
  }
  return made
}

/**
 * Divides connections: the platform has `platform`; owners share `statements`, and `units` for
 * their transactions.
 */
export function divideByOwner(platform: Database, statements: SharedConnections, units: SharedConnections): Database {
  const unsafe: Database['unsafe'] = (...args) => {
    const owner = currentOwner()
    if (owner === undefined) return platform.unsafe(...args)
    return sendInTurn(statements, owner, statements.pool().unsafe(...args))
  }
  const begin: Begin = (...args) => {
    const owner = currentOwner()
    if (owner === undefined) return Reflect.apply(platform.begin, undefined, args)
    return beginInTurn(units, owner, ...args)
  }
  const end = async (limit?: Limit): Promise<void> =>
    void (await Promise.all([platform, statements, units].map((part) => part.end(limit))))
  const divided = new Map<PropertyKey, unknown>(Object.entries({ unsafe, begin, end }))
  return new Proxy(platform, {
    apply: (target, self, args) => {
      const owner = currentOwner()
      if (owner === undefined) return Reflect.apply(target, self, args)
      return sendInTurn(statements, owner, Reflect.apply(statements.pool(), self, args))
    },
    get: (target, name) => divided.get(name) ?? Reflect.get(target, name),
  })
}
