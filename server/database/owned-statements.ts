import { currentOwner } from '../lib/owner.ts'
import type { Database } from './database.ts'
import { beginInTurn, type Limit, type SharedConnections, shareConnections, takeSlot } from './owners.ts'
import { isStatement, type Send, type Statement, sendOver } from './statement.ts'

type Begin = (...args: readonly unknown[]) => Promise<unknown>

/**
 * Connections that belong to one owner at a time, which may queue any number of statements on them.
 */
interface Lane {
  /** Takes the lane for one statement. Undefined while it belongs to another owner. */
  take(owner: string): Disposable | undefined
  send(statement: Statement): void
  end(limit?: Limit): Promise<void>
}

const laneConnections = 4

function createLane(connect: (max: number) => Database): Lane {
  let pool: Database | undefined
  let [holder, inFlight] = ['', 0]
  return {
    take: (owner) => {
      if (inFlight > 0 && holder !== owner) return undefined
      holder = owner
      inFlight++
      return { [Symbol.dispose]: () => void inFlight-- }
    },
    send: (statement) => {
      pool ??= connect(laneConnections)
      sendOver(pool)(statement)
    },
    end: async (limit) => pool?.end(limit),
  }
}

/** Connections for the statements of owners. */
export interface OwnedConnections {
  readonly lane: Lane
  readonly shared: SharedConnections
}

export const ownedConnections = (connect: (max: number) => Database): OwnedConnections => ({
  lane: createLane(connect),
  shared: shareConnections(connect),
})

/**
 * Sends a statement over the lane if it is free or belongs to the owner already. Otherwise the
 * statement waits until its owner has a slot, which it keeps until it settles. There is a
 * connection for each slot, so no statement with a slot is queued behind another one.
 */
function sendInTurn<T>({ lane, shared }: OwnedConnections, owner: string, made: T): T {
  if (!isStatement(made)) return made
  const { handler } = made
  const sendWith = (statement: Statement, send: Send, slot: Disposable): void => {
    const release = (): void => slot[Symbol.dispose]()
    // The driver's own `then` would send it again.
    Promise.prototype.then.call(statement, release, release)
    send(statement)
  }
  made.handler = (statement) => {
    const whole = lane.take(owner)
    if (whole) return sendWith(statement, lane.send, whole)
    const free = shared.slots.takeNow(owner)
    if (free) return sendWith(statement, handler, free)
    takeSlot(shared, owner).then((slot) => sendWith(statement, handler, slot), statement.reject)
  }
  return made
}

/**
 * Divides connections: the platform has `platform`; owners share `statements`, and `units` for
 * their transactions.
 */
export function divideByOwner(platform: Database, statements: OwnedConnections, units: SharedConnections): Database {
  const unsafe: Database['unsafe'] = (...args) => {
    const owner = currentOwner()
    if (owner === undefined) return platform.unsafe(...args)
    return sendInTurn(statements, owner, statements.shared.pool().unsafe(...args))
  }
  const begin: Begin = (...args) => {
    const owner = currentOwner()
    if (owner === undefined) return Reflect.apply(platform.begin, undefined, args)
    return beginInTurn(units, owner, ...args)
  }
  const end = async (limit?: Limit): Promise<void> =>
    void (await Promise.all([platform, statements.lane, statements.shared, units].map((part) => part.end(limit))))
  const divided = new Map<PropertyKey, unknown>(Object.entries({ unsafe, begin, end }))
  return new Proxy(platform, {
    apply: (target, self, args) => {
      const owner = currentOwner()
      if (owner === undefined) return Reflect.apply(target, self, args)
      return sendInTurn(statements, owner, Reflect.apply(statements.shared.pool(), self, args))
    },
    get: (target, name) => divided.get(name) ?? Reflect.get(target, name),
  })
}
