import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { leaveDuty, takeDuty } from './duty-store.ts'
import { safeMs } from './keeper.ts'
import { isAlive, processOwner } from './process-owner.ts'
import { within } from './statement.ts'

/**
 * The right to do the work without a request. Of the servers that share a database, one has it at a
 * time.
 */
export interface Duty {
  /** Whether this process has it now. Ends before the database could give it to another one. */
  readonly isHeld: () => boolean
  /** Begins to ask for it. `changed` is called after each gain and loss, and awaited. */
  start(changed: (isHeld: boolean) => Promise<void>): void
  /** Stops asking, calls `changed` if it was held, and leaves it to the others. */
  stop(): Promise<void>
}

export interface DutyOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  /** Unique per process. Default: host, process and its start time. */
  readonly owner?: string
  /** Default 12: another server takes over within 15 s after a kill. */
  readonly leaseSeconds?: number
  readonly isAlive?: (owner: string) => boolean
}

/** For a server that has its database for itself: it always has the duty. */
export function createSoleDuty(): Duty {
  let leave = async (): Promise<void> => {}
  return {
    isHeld: () => true,
    start: (changed) => {
      leave = () => changed(false)
      void changed(true)
    },
    stop: () => leave(),
  }
}

/**
 * Creates the duty of a server that shares its database. A server that has it renews it four times
 * per lease. The others look five times per lease, and take it at once from an ended process of
 * this host.
 */
export function createSharedDuty(options: DutyOptions): Duty {
  const { database, clock, log, owner = processOwner(), leaseSeconds = 12 } = options
  const isThere = options.isAlive ?? isAlive
  const stopping = new AbortController()
  let validUntil = 0
  let wasHeld = false
  let running: Promise<void> = Promise.resolve()
  const isHeld = (): boolean => !stopping.signal.aborted && clock.monotonic() < validUntil

  const ask = async (): Promise<void> => {
    const askedAt = clock.monotonic()
    const take = (dead?: string) =>
      within(clock, leaseSeconds * 250, takeDuty(database, { owner, leaseSeconds, ...(dead && { dead }) }))
    const holder = await take()
    const now = holder && holder.owner !== owner && holder.owner !== '' && !isThere(holder.owner)
    const last = now ? await take(holder.owner) : holder
    if (last?.owner === owner) validUntil = askedAt + safeMs(leaseSeconds)
    else validUntil = 0
  }
  const report = async (changed: (isHeld: boolean) => Promise<void>): Promise<void> => {
    const held = isHeld()
    if (held === wasHeld) return
    wasHeld = held
    log.info({ owner, isHeld: held }, held ? 'this server does the work' : 'another server does the work')
    await changed(held)
  }
  const keep = async (changed: (isHeld: boolean) => Promise<void>): Promise<void> => {
    for (let dueAt = 0; !stopping.signal.aborted; ) {
      if (clock.monotonic() >= dueAt) {
        dueAt = clock.monotonic() + leaseSeconds * (isHeld() ? 250 : 200)
        await ask().catch((error: unknown) => {
          log.warn({ reason: messageOf(error) }, 'the database was not asked which server does the work')
        })
      }
      await report(changed)
      await clock.sleep(leaseSeconds * 20, stopping.signal).catch(() => {})
    }
    await report(changed)
  }

  return {
    isHeld,
    start: (changed) => {
      running = keep(changed)
    },
    stop: async () => {
      stopping.abort()
      await running
      await leaveDuty(database, owner).catch((error: unknown) => {
        log.warn({ reason: messageOf(error) }, 'the work is left to the other servers when its lease ends')
      })
    },
  }
}
