/** A client's requests that it may still send, at a time. */
interface Allowance {
  left: number
  at: number
}

const minuteMs = 60_000

/**
 * Limits the requests of clients. Each may send a minute's number at once, and gets the same number
 * back evenly in the next minute. Each process counts by itself. If more clients than `most` are
 * known, the ones seen first are forgotten.
 */
export class RequestLimits {
  readonly #most: number
  readonly #known = new Map<string, Allowance>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Takes one request of a client. Returns 0, or the milliseconds after which it may send the next
   * one. `now` is in milliseconds and never goes back.
   */
  take(client: string, perMinute: number, now: number): number {
    const known = this.#known.get(client) ?? this.#add(client, perMinute, now)
    known.left = Math.min(perMinute, known.left + ((now - known.at) * perMinute) / minuteMs)
    known.at = now
    if (known.left < 1) return Math.max(1, ((1 - known.left) * minuteMs) / perMinute)
    known.left--
    return 0
  }

  #add(client: string, perMinute: number, now: number): Allowance {
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= this.#most) this.#known.delete(oldest)
    const added = { left: perMinute, at: now }
    this.#known.set(client, added)
    return added
  }
}
