import type { Clock } from '../../lib/clock.ts'
import type { Events } from './events.ts'

/** The longest time for which a result is reused, in milliseconds, because events can be lost. */
const longestMs = 10_000

export interface Source {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly events: Pick<Events, 'count'>
}

/**
 * Reuses the last result of a read of Docker while Docker reports no event. Without events nothing
 * is reused.
 */
export class UntilEvent<T> {
  readonly #source: Source
  #last: { readonly count: number; readonly atMs: number; readonly value: T } | undefined

  constructor(source: Source) {
    this.#source = source
  }

  /** Returns the last result if it still holds. Otherwise reads. `isTold`: events are reported. */
  async get(read: (isTold: boolean) => Promise<T>): Promise<{ readonly value: T; readonly isReused: boolean }> {
    // Counted before the read, because an event during the read may be missing from its result.
    const count = this.#source.events.count()
    const atMs = this.#source.clock.monotonic()
    const last = this.#last
    if (last && last.count === count && atMs - last.atMs < longestMs) return { value: last.value, isReused: true }
    const value = await read(count !== undefined)
    this.#last = count === undefined ? undefined : { count, atMs, value }
    return { value, isReused: false }
  }
}
