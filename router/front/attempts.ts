import { monotonic } from '../clock.ts'

/** The pause after the first failure. It doubles with each further one. */
const firstMs = 200
const longestMs = 30_000
/** A program that ends before it has served for this long has failed. */
const steadyMs = 5_000

/** The attempts to have a program serve. After failures, the next one waits. */
export class Attempts {
  readonly #now: () => number
  #failures = 0
  #notBefore = 0
  #servesSince: number | undefined
  /** The reason of the last failure, until the program serves. */
  failure: string | undefined

  /** `now` returns milliseconds that never go backwards. */
  constructor(now: () => number = monotonic) {
    this.#now = now
  }

  /** Whether the next attempt may begin now. */
  mayBegin(): boolean {
    return this.#now() >= this.#notBefore
  }

  /** Records that the program serves. */
  begin(): void {
    this.#servesSince = this.#now()
    this.failure = undefined
  }

  /** Records that the program has ended, at any time after its start. */
  end(): void {
    const isSteady = this.#servesSince !== undefined && this.#now() - this.#servesSince >= steadyMs
    this.#servesSince = undefined
    if (isSteady) this.#failures = 0
    else this.fail('it ended soon after its start')
  }

  /** Records that the program did not start. */
  fail(reason: string): void {
    this.#failures++
    this.failure = reason
    this.#notBefore = this.#now() + Math.min(firstMs * 2 ** (this.#failures - 1), longestMs)
  }
}
