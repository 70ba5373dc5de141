import type { Clock } from '../lib/clock.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'

/** A read of one caller. Equal reads have the same key. */
export interface SharedRead<T> {
  readonly key: string
  /** A number that grows with every request, from before the request was authorized. */
  readonly arrival: number
  readonly execute: () => Promise<T>
}

/** The reads that wait for one execution. */
interface Waiting<T> extends PromiseWithResolvers<T> {
  newest: SharedRead<T>
}

/** How long a read waits for the end of another execution before its own begins. */
const patienceMs = 100

/**
 * Lets equal reads that wait at the same time share one execution. No answer is older than its
 * request: a read that arrives during an execution waits for the next one, and an execution is that
 * of the newest request, so everything in it was read after all of them had arrived. A slow
 * execution delays the next one by 100 ms at most. Nothing is kept once no read waits.
 */
export class SharedReads<T> {
  readonly #clock: Clock
  /** By key, while an execution runs. Undefined if none waits for its end. */
  readonly #running = new Map<string, Waiting<T> | undefined>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  read(asked: SharedRead<T>): Promise<T> {
    const { key, arrival } = asked
    const waiting = this.#running.get(key)
    if (waiting) {
      if (arrival > waiting.newest.arrival) waiting.newest = asked
      return waiting.promise
    }
    const first = { newest: asked, ...Promise.withResolvers<T>() }
    const isRunning = this.#running.has(key)
    this.#running.set(key, first)
    // Equal requests that were authorized by the same statement continue before this.
    if (!isRunning) queueMicrotask(() => this.#begin(key))
    return first.promise
  }

  /** Executes the waiting reads, and then those that have arrived meanwhile. */
  #begin(key: string): void {
    const waiting = this.#running.get(key)
    if (!waiting) return void this.#running.delete(key)
    this.#running.set(key, undefined)
    const over = new AbortController()
    const ended = execute(waiting)
      .then(waiting.resolve, waiting.reject)
      .finally(() => over.abort(nobodyWaits))
    const late = this.#clock.sleep(patienceMs, over.signal).catch(() => {})
    void Promise.race([ended, late]).then(() => this.#begin(key))
  }

  /** The number of reads that have different keys and are in progress. */
  get size(): number {
    return this.#running.size
  }
}

/** Asynchronous, so that an error is always a rejection. */
const execute = async <T>({ newest }: Waiting<T>): Promise<T> => newest.execute()
