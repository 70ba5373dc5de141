import type { Clock } from '../lib/clock.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Lease } from './lease.ts'
import { backOff, isOutage, NoAnswerError } from './outage.ts'

export interface StatementOptions {
  readonly clock: Clock
  readonly log: Logger
  /** The limit of one statement. */
  readonly limitMs: number
}

// A shared reason: creating one with its stack for every statement would be expensive.
const done = new Error('settled')

/**
 * Returns the promise's outcome. Rejects with NoAnswerError after `limitMs`, or with the signal's
 * reason if that is aborted first.
 */
export async function within<T>(clock: Clock, limitMs: number, promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  const settled = new AbortController()
  const limit = clock.sleep(limitMs, signal ? AbortSignal.any([settled.signal, signal]) : settled.signal)
  try {
    return await Promise.race([
      promise,
      limit.then(
        () => Promise.reject(new NoAnswerError(`the database did not answer within ${limitMs / 1000} s`)),
        (reason) => Promise.reject(signal?.aborted ? signal.reason : reason),
      ),
    ])
  } finally {
    settled.abort(done)
  }
}

/**
 * Repeats a write through outages of the database for as long as the lease holds. The write must be
 * repeatable.
 */
export async function persist<T>(options: StatementOptions, lease: Lease, write: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    lease.lost.throwIfAborted()
    try {
      return await within(options.clock, options.limitMs, write(), lease.lost)
    } catch (error) {
      if (!isOutage(error)) throw error
      options.log.warn({ workflow: lease.id, reason: messageOf(error), failures }, 'the database rejected a write')
      await pause(options.clock, backOff(failures, 50, 2000), lease.lost)
    }
  }
}

/** Sleeps. On an abort it throws the signal's own reason. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}
