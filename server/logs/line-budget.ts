/**
 * Limits the lines of one service: `perSecond` on average, and as many at once after a quiet
 * second. When the budget is used up, nothing is accepted until half a second's worth is available
 * again, so that drops come in few long runs.
 */
export class LineBudget {
  readonly #perSecond: number
  #lines: number
  #refilledAt: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#lines = perSecond
    this.#refilledAt = nowMs
  }

  /**
   * Whether a line that arrives now is accepted. `now` returns monotonic milliseconds. It is called
   * only when necessary.
   */
  take(now: () => number): boolean {
    if (this.#lines < 1) {
      const nowMs = now()
      const lines = Math.min(this.#perSecond, ((nowMs - this.#refilledAt) * this.#perSecond) / 1000)
      if (lines < Math.max(1, this.#perSecond / 2)) return false
      this.#lines = lines
      this.#refilledAt = nowMs
    }
    this.#lines--
    return true
  }

  /** Milliseconds until lines are accepted again. */
  pauseMs(nowMs: number): number {
    return Math.max(1, (Math.max(1, this.#perSecond / 2) * 1000) / this.#perSecond - (nowMs - this.#refilledAt))
  }
}
