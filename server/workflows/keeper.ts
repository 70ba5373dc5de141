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
  /** The leases of running workflows. The keeper reads them again on every tick. */
  readonly leases: ReadonlyMap<string, Lease>
  /** Called with the leases that this process lost because it was busy itself. */
  readonly holds: Pick<Holds, 'note'>
}

/**
 * How long a lease is safe after sending its claim or renewal. It ends for us before it ends in the
 * database.
 */
export const safeMs = (leaseSeconds: number): number => leaseSeconds * 800

/**
 * Renews the leases of running workflows three times per lease until the signal is aborted. If a
 * lease could not be renewed in time, it ends the lease for the run, however long the database
 * takes to answer.
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
    // Not awaited, because leases must end in time even if the database does not answer.
    if (leases.size > 0 && now >= dueAt && !isRenewing) void renewNow(now)
    await clock.sleep((leaseSeconds * 1000) / 15, signal).catch(() => {})
  }
}

/** The time, and the CPU time of this thread. */
function lookAtClocks(clock: Clock): { readonly now: number; readonly cpuMs: number } {
  const { user, system } = process.threadCpuUsage()
  return { now: clock.monotonic(), cpuMs: (user + system) / 1000 }
}

/** Ends the leases that ran out. Counts them if this process was too busy to renew them. */
function expire({ leases, holds, leaseSeconds, log }: KeeperOptions, now: number, wasBusy: boolean): void {
  const lost = [...leases.values()].filter((lease) => lease.expire(now))
  if (lost.length === 0) return
  const ids = lost.map(({ id }) => id)
  if (wasBusy) holds.note(ids)
  log.warn({ workflows: ids, wasBusy, leaseSeconds }, 'leases ran out')
}

/** Returns false if some leases could not be renewed and should be retried soon. */
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
    // Retried after the limit. A later answer still counts, from the time of its request.
    const renewed = await within(clock, limitMs, answered)
    const left = held.filter((lease) => !renewed.has(lease.id) && leases.get(lease.id) === lease)
    if (left.length > 0) await dropTaken(left, await within(clock, limitMs, readRunning(database)))
    return left.length === 0
  } catch (error) {
    log.warn({ reason: messageOf(error), workflows: held.length }, 'leases could not be renewed')
    return false
  }
}

/**
 * A lease that was not renewed was taken over, or its row is only locked. A locked one is retried.
 */
function dropTaken(left: readonly Lease[], running: readonly { id: string; fence: string }[]): void {
  const fences = new Map(running.map(({ id, fence }) => [id, fence]))
  for (const lease of left) {
    if (fences.get(lease.id) !== lease.fence) lease.lose('another process took it over')
  }
}
