import { startLimit } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { backOff, isOutage } from './outage.ts'
import { pause, type StatementOptions } from './statement.ts'

type Work<T> = (attempt: { readonly signal: AbortSignal }) => Promise<T>

interface Bounds {
  readonly signal: AbortSignal
  readonly remainingMs: number
  readonly late: () => Error
}

/** The maximum delay of setTimeout. */
const longestMs = 2 ** 31 - 1

/**
 * Runs work until it ends, its time is over or the signal is aborted. Aborted work gets `graceMs`
 * to stop. A result within that time counts. Otherwise the reason of the abort is thrown and the
 * work is left behind. Work that fails because of a database outage is started again, because steps
 * are repeatable.
 */
export async function workUntil<T>(
  run: StatementOptions & { readonly graceMs: number },
  work: Work<T>,
  bounds: Bounds,
): Promise<T> {
  if (bounds.remainingMs <= 0) throw bounds.late()
  using limit = startLimit(run.clock, Math.min(bounds.remainingMs, longestMs), bounds.late)
  return await retryOutages(run, work, AbortSignal.any([bounds.signal, limit.signal]))
}

async function retryOutages<T>(
  run: StatementOptions & { readonly graceMs: number },
  work: Work<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted()
    try {
      return await leaveBehind(run, work({ signal }), signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!isOutage(error)) throw error
      run.log.warn({ reason: messageOf(error), failures }, 'a step got no answer from the database')
      await pause(run.clock, backOff(failures, 100, 5000), signal)
    }
  }
}

/**
 * Returns the work's outcome, or throws the signal's reason if the work has not settled `graceMs`
 * after the abort.
 */
async function leaveBehind<T>(
  { clock, graceMs }: Pick<StatementOptions, 'clock'> & { readonly graceMs: number },
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const settled = new AbortController()
  const tooLate = Promise.withResolvers<never>()
  const onAbort = (): void => {
    clock.sleep(graceMs, settled.signal).then(
      () => tooLate.reject(signal.reason),
      () => {},
    )
  }
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, tooLate.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    settled.abort(nobodyWaits)
  }
}
