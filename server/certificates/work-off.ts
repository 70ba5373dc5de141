import type { Clock } from '../lib/clock.ts'
import { startDeadline } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { alternating, nextOf, type OrderLimits, type Owner } from './due-turns.ts'

export interface OrdersOptions<T> {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly log: Logger
  readonly limits: OrderLimits
  readonly ownerOf: (one: T) => Owner
  /** A run begins no further order after this time, and waits no longer for its orders. */
  readonly runMs: number
  /** Carries out one order. Rejects for faults of the platform, and if `signal` aborts. */
  readonly attempt: (one: T, signal: AbortSignal) => Promise<void>
}

/** Carries out orders, some of them at the same time. */
export interface Orders<T> {
  /**
   * Begins orders of what is due. Returns once they have ended, or after the time of a run. An
   * order that takes longer works on beside the next runs, so it does not delay what is due then.
   */
  workOff(due: readonly T[], signal: AbortSignal): Promise<void>
}

/** One run. */
interface Run<T> {
  readonly signal: AbortSignal
  readonly waiting: Set<T>
  /** The names whose orders it began and that have not ended. */
  readonly begun: Set<string>
  readonly failures: unknown[]
  readonly mayBegin: () => boolean
  /** Whether the run has returned, so that nobody notices its failures. */
  readonly isOver: () => boolean
  readonly endWait: () => void
}

export function createOrders<T extends { readonly host: string }>(options: OrdersOptions<T>): Orders<T> {
  const { clock, log, limits, ownerOf, runMs } = options
  /** The orders of all runs that have not ended. */
  const running = new Map<string, { readonly owner: Owner; readonly ended: Promise<void> }>()
  const order = (run: Run<T>, one: T): void => {
    const fail = (error: unknown): void => {
      run.failures.push(error)
      if (!run.isOver() || run.signal.aborted) return
      log.error({ host: one.host, reason: messageOf(error) }, 'certificate could not be ordered')
    }
    const end = (): void => {
      running.delete(one.host)
      run.begun.delete(one.host)
      begin(run)
    }
    run.begun.add(one.host)
    running.set(one.host, {
      owner: ownerOf(one),
      ended: options.attempt(one, run.signal).catch(fail).then(end),
    })
  }
  const begin = (run: Run<T>): void => {
    while (run.failures.length === 0 && !run.signal.aborted && run.mayBegin()) {
      const owners = Array.from(running.values(), ({ owner }) => owner)
      const next = nextOf(run.waiting, owners, { limits, ownerOf })
      if (next === undefined) break
      run.waiting.delete(next)
      if (!running.has(next.host)) order(run, next)
    }
    if (run.begun.size === 0) run.endWait()
  }
  return {
    workOff: async (due, signal) => {
      const end = clock.monotonic() + runMs
      const { promise: waited, resolve: endWait } = Promise.withResolvers<void>()
      const over = new AbortController()
      const run: Run<T> = {
        ...{ signal, begun: new Set(), failures: [], endWait },
        waiting: new Set(alternating(due, ownerOf)),
        mayBegin: () => !over.signal.aborted && clock.monotonic() <= end,
        isOver: () => over.signal.aborted,
      }
      begin(run)
      const deadline = startDeadline(runMs, signal)
      deadline.signal.addEventListener('abort', () => endWait(), { once: true, signal: over.signal })
      if (!deadline.signal.aborted) await waited
      over.abort(nobodyWaits)
      if (signal.aborted) await Promise.all(Array.from(running.values(), ({ ended }) => ended))
      if (run.failures.length > 0) throw run.failures[0]
    },
  }
}
