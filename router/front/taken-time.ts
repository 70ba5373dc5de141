import { monotonic } from '../clock.ts'

/** The longest time without a pause. */
export const mostTakenMs = 60_000
/** After it is used up, this much must be regained first, so that the port does not flap. */
const leastMs = 15_000
/** The time that is regained for each millisecond in which HAProxy has the port. */
const regained = 1 / 3

/**
 * Decides when the router takes the port of HTTPS from HAProxy. Hosts whose challenges are always
 * open, such as domains that fail again and again, get at most a minute at once and then a quarter
 * of all time.
 */
export class TakenTime {
  readonly #now: () => number
  #leftMs = mostTakenMs
  #at: number
  #isTaken = false

  constructor(now: () => number = monotonic) {
    this.#now = now
    this.#at = now()
  }

  /** Whether the time is used up. It is regained while HAProxy has the port. */
  get isUsedUp(): boolean {
    return !this.#isTaken && this.#leftMs < leastMs
  }

  /** Returns whether the router has the port from now on. Must be called often while it has. */
  takes(isAsked: boolean): boolean {
    const passedMs = this.#now() - this.#at
    this.#at += passedMs
    this.#leftMs = this.#isTaken
      ? Math.max(0, this.#leftMs - passedMs)
      : Math.min(mostTakenMs, this.#leftMs + passedMs * regained)
    this.#isTaken = isAsked && this.#leftMs >= (this.#isTaken ? 1 : leastMs)
    return this.#isTaken
  }
}
