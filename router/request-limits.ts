import { OwnedMap } from './owned-map.ts'

/** A client's requests that it may still send, at a time. */
interface Allowance {
  left: number
  at: number
}

const minuteMs = 60_000

/**
 * Limits the requests of clients. Each may send a minute's number at once, and gets the same number
 * back evenly in the next minute. Each process counts by itself. If more clients than `most` of one
 * owner's services are known, the ones seen first are forgotten.
 */
export class RequestLimits {
  readonly #known: OwnedMap<Allowance>

  constructor(most: number) {
    this.#known = new OwnedMap(most)
  }

  /**
   * Takes one request of a client. Returns 0, or the milliseconds after which it may send the next
   * one. `now` is in milliseconds and never goes back.
   */
  take({ owner, client }: { readonly owner: string; readonly client: string }, perMinute: number, now: number): number {
    const known = this.#known.get(owner, client) ?? this.#add(owner, client, { left: perMinute, at: now })
    known.left = Math.min(perMinute, known.left + ((now - known.at) * perMinute) / minuteMs)
    known.at = now
    if (known.left < 1) return Math.max(1, ((1 - known.left) * minuteMs) / perMinute)
    known.left--
    return 0
  }

  #add(owner: string, client: string, added: Allowance): Allowance {
    this.#known.set(owner, client, added)
    return added
  }
}
