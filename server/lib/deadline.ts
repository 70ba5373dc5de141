import type { Clock } from './clock.ts'
import { nobodyWaits } from './nobody-waits.ts'

/** The limit of a piece of work that its caller may also end. */
export interface Deadline {
  /** Ends the work: aborted by the caller, or with a TimeoutError when its time is over. */
  readonly signal: AbortSignal
  /** Whether the time of the work is over. */
  readonly isOver: boolean
}

/**
 * Begins a deadline that ends with the signal of the caller, if any, or after `ms` milliseconds.
 */
export function startDeadline(ms: number, caller?: AbortSignal): Deadline {
  const timeout = AbortSignal.timeout(ms)
  return {
    signal: caller ? AbortSignal.any([caller, timeout]) : timeout,
    get isOver() {
      return timeout.aborted
    },
  }
}

/** A limit by the clock. Disposing of it ends the wait. */
export interface Limit extends Disposable {
  readonly signal: AbortSignal
}

/** Begins a limit whose signal is aborted with the reason `late()` after `ms` milliseconds. */
export function startLimit(clock: Clock, ms: number, late: () => unknown): Limit {
  const [limit, over] = [new AbortController(), new AbortController()]
  clock.sleep(ms, over.signal).then(
    () => limit.abort(late()),
    () => {},
  )
  return { signal: limit.signal, [Symbol.dispose]: () => over.abort(nobodyWaits) }
}
