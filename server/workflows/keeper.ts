import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { type Holds, isOwnHold } from './holds.ts'
import type { Lease } from './lease.ts'
import { within } from './statement.ts'
import { readRunning, renew } from './workflow-store.ts'

export interface KeeperOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly leaseSeconds: number
  /** What is being run; the keeper looks at it anew on every tick. */
  readonly leases: ReadonlyMap<string, Lease>
  /** Is told of leases that this process lost because it was busy itself. */
  readonly holds: Pick<Holds, 'note'>
}

/** How long after sending its claim or renewal a lease can be relied on: it ends for us before it ends in the database. */
export const safeMs = (leaseSeconds: number): number => leaseSeconds * 800

/**
 * Renews the leases of what is run every third of a lease until the signal is aborted, and ends those for the run that
 * could not be renewed in time, however long the database takes to answer.
 */
export async function keepLeases(options: KeeperOptions, signal: AbortSignal): Promise<void> {
  const { clock, leases, leaseSeconds } = options
  let dueAt = 0
  let isRenewing = false
  const renewNow = async (now: number): Promise<void> => {
    isRenewing = true
    dueAt = now + (leaseSeconds * 1000) / 3
    if (!(await renewOnce(options))) dueAt = 0
    isRenewing = false
  }
  for (let before = lookAtClocks(clock); !signal.aborted; ) {
    const seen = lookAtClocks(clock)
    const { now } = seen
    const gapMs = now - before.now
    const wasLong = gapMs > (leaseSeconds * 1000) / 3
    expire(options, now, wasLong && isOwnHold(gapMs, seen.cpuMs - before.cpuMs))
    before = seen
    // Not awaited: leases have to be ended in time also while the database does not answer.
    if (leases.size > 0 && now >= dueAt && !isRenewing) void renewNow(now)
    await clock.sleep((leaseSeconds * 1000) / 15, signal).catch(() => {})
  }
}

/** The time, and how much of it this thread has used. */
function lookAtClocks(clock: Clock): { readonly now: number; readonly cpuMs: number } {
  const { user, system } = process.threadCpuUsage()
  return { now: clock.monotonic(), cpuMs: (user + system) / 1000 }
}

/** Ends the leases that ran out. They are counted if this process was too busy to renew them. */
function expire({ leases, holds, leaseSeconds, log }: KeeperOptions, now: number, wasBusy: boolean): void {
  const lost = [...leases.values()].filter((lease) => lease.expire(now))
  if (lost.length === 0) return
  const ids = lost.map(({ id }) => id)
  if (wasBusy) holds.note(ids)
  log.warn({ workflows: ids, wasBusy, leaseSeconds }, 'leases ran out')
}

/** False when some could not be renewed now and should be tried again soon. */
async function renewOnce({ database, clock, log, leaseSeconds, leases }: KeeperOptions): Promise<boolean> {
  const held = [...leases.values()].filter((lease) => !lease.lost.aborted)
  if (held.length === 0) return true
  const validUntil = clock.monotonic() + safeMs(leaseSeconds)
  const limitMs = (leaseSeconds * 1000) / 4
  try {
    const answered = renew(database, held, leaseSeconds).then((rows) => {
      const renewed = new Map(rows.map((row) => [row.id, row]))
      for (const lease of held) {
        const row = renewed.get(lease.id)
        if (!row) continue
        lease.renew(validUntil)
        if (row.cancel_requested) lease.cancel()
      }
      return renewed
    })
    // Asked again after the limit; an answer that comes later counts all the same, from when it was asked for.
    const renewed = await within(clock, limitMs, answered)
    const left = held.filter((lease) => !renewed.has(lease.id) && leases.get(lease.id) === lease)
    if (left.length > 0) await dropTaken(left, await within(clock, limitMs, readRunning(database)))
    return left.length === 0
  } catch (error) {
    log.warn({ reason: messageOf(error), workflows: held.length }, 'leases could not be renewed')
    return false
  }
}

/** A lease that was not renewed was taken over, or its row is only locked by somebody: that one is tried again. */
function dropTaken(left: readonly Lease[], running: readonly { id: string; fence: string }[]): void {
  const fences = new Map(running.map(({ id, fence }) => [id, fence]))
  for (const lease of left) {
    if (fences.get(lease.id) !== lease.fence) lease.lose('another process took it over')
  }
}
