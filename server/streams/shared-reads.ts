import type { Clock } from '../lib/clock.ts'

interface Read<T> {
  readonly atMs: number
  readonly answer: Promise<T>
}

/**
 * Shares reads among the people who look at the same thing. An answer serves everybody who asks
 * until it is too old. A failure is shared as well.
 */
export class SharedReads<T> {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #freshMs: number
  readonly #reads = new Map<string, Read<T>>()

  constructor(clock: Pick<Clock, 'monotonic'>, freshMs: number) {
    this.#clock = clock
    this.#freshMs = freshMs
  }

  /** Returns the answer for a key. `read` is called if there is none, or if it is too old. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic()
    for (const [known, { atMs }] of this.#reads) if (now - atMs >= this.#freshMs) this.#reads.delete(known)
    const { answer } = this.#reads.get(key) ?? { answer: read() }
    if (!this.#reads.has(key)) this.#reads.set(key, { atMs: now, answer })
    return answer
  }
}
