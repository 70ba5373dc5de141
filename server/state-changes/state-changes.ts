import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { type Position, positionOf, type StateChange, toStateChange } from './state-change.ts'
import { mostNumbered, numberSome } from './state-change-pruner.ts'
import { hasNews, listChanges, readFeed } from './state-change-store.ts'

export type Listener = (change: StateChange) => void

/** Lets many follow the changes of their organizations; the table has one reader, and none while nobody follows. */
export interface StateChanges {
  /** Calls the listener for every change of the organization after `from`, in order, until `end`. The listener must not wait. */
  follow(organizationId: string, listener: Listener): Promise<{ readonly from: number; end(): void }>
  /** All changes up to this number were told, to those whom they concern. */
  delivered(): number
  /** Where somebody goes on who has seen this number last. */
  position(known: number): Promise<Position>
  /** Changes of the organization after one number, up to another one, oldest first, at most 500. */
  read(organizationId: string, after: number, upTo: number): Promise<StateChange[]>
  close(): Promise<void>
}

export interface StateChangesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** How often the reader looks while somebody follows. Default 100. */
  readonly everyMs?: number
}

const pageRows = 500
const longestPauseMs = 5_000

export function createStateChanges(options: StateChangesOptions): StateChanges {
  const { database, clock, log, everyMs = 100 } = options
  const listeners = new Map<string, Set<Listener>>()
  const closing = new AbortController()
  let cursor = 0
  /** While it reads: resolves once it knows where it begins. */
  let begun: Promise<void> | undefined
  let ended: Promise<void> = Promise.resolve()

  /** Numbers what is committed and gives the last number. */
  async function catchUp(): Promise<number> {
    while ((await numberSome(database)) === mostNumbered) {}
    return (await readFeed(database)).last_sequence
  }

  async function deliver(): Promise<void> {
    const last = await catchUp()
    while (cursor < last) {
      const page = await listChanges(database, { after: cursor, upTo: last, limit: pageRows })
      cursor = page.length < pageRows ? last : (page.at(-1)?.sequence ?? last)
      for (const change of page.map(toStateChange)) {
        for (const listener of listeners.get(change.organizationId) ?? []) listener(change)
      }
    }
  }

  async function readOn(): Promise<void> {
    let pauseMs = everyMs
    while (listeners.size > 0 && !closing.signal.aborted) {
      await clock.sleep(pauseMs, closing.signal).catch(() => {})
      if (listeners.size === 0) break
      try {
        if (await hasNews(database, cursor)) await deliver()
        pauseMs = everyMs
      } catch (error) {
        if (pauseMs === everyMs) log.warn({ reason: messageOf(error) }, 'changes of states could not be read')
        pauseMs = Math.min(longestPauseMs, pauseMs * 2)
      }
    }
    begun = undefined
  }

  async function begin(): Promise<void> {
    try {
      await ended
      cursor = await catchUp()
      ended = readOn()
    } catch (error) {
      begun = undefined
      throw error
    }
  }

  function end(organizationId: string, listener: Listener): void {
    const own = listeners.get(organizationId)
    own?.delete(listener)
    if (own?.size === 0) listeners.delete(organizationId)
  }

  return {
    async follow(organizationId, listener) {
      const own = listeners.get(organizationId) ?? new Set<Listener>()
      listeners.set(organizationId, own.add(listener))
      try {
        begun ??= begin()
        await begun
      } catch (error) {
        end(organizationId, listener)
        throw error
      }
      return { from: cursor, end: () => end(organizationId, listener) }
    },
    delivered: () => cursor,
    position: async (known) => positionOf(known, await readFeed(database)),
    read: async (organizationId, after, upTo) =>
      (await listChanges(database, { after, upTo, limit: pageRows, organizationId })).map(toStateChange),
    close: async () => {
      closing.abort()
      listeners.clear()
      await ended
    },
  }
}
