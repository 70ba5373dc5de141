import { type Database, withoutOwner } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { type Position, positionOf, type StateChange, toStateChange } from './state-change.ts'
import { mostNumbered, numberSome } from './state-change-pruner.ts'
import { hasNews, listChanges, readFeed } from './state-change-store.ts'

export type Listener = (change: StateChange) => void

/**
 * Lets many clients follow the changes of their organizations. The table has one reader, and none
 * while nobody follows.
 */
export interface StateChanges {
  /**
   * Calls the listener for every change of the organization after the returned number, in order,
   * until `unfollow`. The listener must not wait.
   */
  follow(organizationId: string, listener: Listener): Promise<number>
  /** Stops calling the listener. It may have been stopped already. */
  unfollow(organizationId: string, listener: Listener): void
  /** Returns the number up to which all changes were passed to their listeners. */
  delivered(): number
  /** Returns the position at which a follower continues who has seen this number last. */
  position(known: number): Promise<Position>
  /** Lists at most 500 changes of the organization between two numbers, oldest first. */
  read(organizationId: string, after: number, upTo: number): Promise<StateChange[]>
  /**
   * Makes the reader look now instead of after its pause, for changes that someone probably waits
   * for.
   */
  nudge(): void
  close(): Promise<void>
}

export interface StateChangesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Milliseconds between reads while somebody follows. Default 100. */
  readonly everyMs?: number
}

const pageRows = 500
const longestPauseMs = 5_000

export function createStateChanges(options: StateChangesOptions): StateChanges {
  const { database } = options
  const listeners = new Listeners()
  const reader = new Reader(options, listeners)
  return {
    async follow(organizationId, listener) {
      listeners.add(organizationId, listener)
      try {
        return await reader.begin()
      } catch (error) {
        listeners.remove(organizationId, listener)
        throw error
      }
    },
    unfollow: (organizationId, listener) => listeners.remove(organizationId, listener),
    delivered: () => reader.cursor,
    position: async (known) => positionOf(known, await readFeed(database)),
    read: async (organizationId, after, upTo) =>
      (await listChanges(database, { after, upTo, limit: pageRows, organizationId })).map(toStateChange),
    nudge: () => reader.nudge(),
    close: () => reader.close(),
  }
}

/** The listeners by organization. */
class Listeners {
  readonly #byOrganization = new Map<string, Set<Listener>>()

  get isEmpty(): boolean {
    return this.#byOrganization.size === 0
  }

  add(organizationId: string, listener: Listener): void {
    const own = this.#byOrganization.get(organizationId) ?? new Set<Listener>()
    this.#byOrganization.set(organizationId, own.add(listener))
  }

  remove(organizationId: string, listener: Listener): void {
    const own = this.#byOrganization.get(organizationId)
    own?.delete(listener)
    if (own?.size === 0) this.#byOrganization.delete(organizationId)
  }

  tell(change: StateChange): void {
    for (const listener of this.#byOrganization.get(change.organizationId) ?? []) listener(change)
  }

  clear(): void {
    this.#byOrganization.clear()
  }
}

/** The reader of the table, active while somebody follows. */
class Reader {
  /** All changes up to this number were passed on. */
  cursor = 0
  readonly #options: StateChangesOptions
  readonly #listeners: Listeners
  readonly #closing = new AbortController()
  /** While it reads: resolves once its start position is known. */
  #begun: Promise<void> | undefined
  #ended: Promise<void> = Promise.resolve()
  #nudged = Promise.withResolvers<void>()

  constructor(options: StateChangesOptions, listeners: Listeners) {
    this.#options = options
    this.#listeners = listeners
  }

  /**
   * Starts reading unless it already does. Returns the number after which changes are passed on.
   */
  async begin(): Promise<number> {
    // All organizations wait for the one reader.
    this.#begun ??= withoutOwner(() => this.#start())
    await this.#begun
    return this.cursor
  }

  nudge(): void {
    this.#nudged.resolve()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#listeners.clear()
    await this.#ended
  }

  async #start(): Promise<void> {
    try {
      await this.#ended
      this.cursor = await this.#catchUp()
      this.#ended = this.#readOn()
    } catch (error) {
      this.#begun = undefined
      throw error
    }
  }

  async #readOn(): Promise<void> {
    const { database, log, everyMs = 100 } = this.#options
    let pauseMs = everyMs
    while (!this.#listeners.isEmpty && !this.#closing.signal.aborted) {
      await this.#pause(pauseMs)
      if (this.#listeners.isEmpty) break
      try {
        if (await hasNews(database, this.cursor)) await this.#deliver()
        pauseMs = everyMs
      } catch (error) {
        if (pauseMs === everyMs) log.warn({ reason: messageOf(error) }, 'changes of states could not be read')
        pauseMs = Math.min(longestPauseMs, pauseMs * 2)
      }
    }
    this.#begun = undefined
  }

  async #pause(ms: number): Promise<void> {
    const over = new AbortController()
    const slept = this.#options.clock.sleep(ms, AbortSignal.any([this.#closing.signal, over.signal])).catch(() => {})
    await Promise.race([slept, this.#nudged.promise])
    over.abort(nobodyWaits)
    this.#nudged = Promise.withResolvers<void>()
  }

  async #deliver(): Promise<void> {
    const last = await this.#catchUp()
    while (this.cursor < last) {
      const page = await listChanges(this.#options.database, { after: this.cursor, upTo: last, limit: pageRows })
      this.cursor = page.length < pageRows ? last : (page.at(-1)?.sequence ?? last)
      for (const change of page) this.#listeners.tell(toStateChange(change))
    }
  }

  /** Numbers committed changes and returns the last number. */
  async #catchUp(): Promise<number> {
    for (;;) {
      const { count, last } = await numberSome(this.#options.database)
      if (count < mostNumbered) return last
    }
  }
}
