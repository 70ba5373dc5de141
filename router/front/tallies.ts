/** The requests of one endpoint that HAProxy carries. */
export interface Tally {
  readonly open: number
  /** Every request so far. It only grows while this process runs. */
  readonly total: number
}

interface Seen {
  readonly raw: number
  /** Added to the raw number. An entry that HAProxy has dropped starts at 0 again. */
  readonly base: number
}

/** Reads the counts of endpoints from HAProxy, across its restarts. Keys are `address:port`. */
export class Tallies {
  readonly #seen = new Map<string, Seen>()

  /** Reads the answer to `show table endpoints`. */
  read(text: string): ReadonlyMap<string, Tally> {
    const found = new Map<string, Tally>()
    for (const [, key = '', open, requests] of text.matchAll(line)) {
      const raw = Number(requests)
      const last = this.#seen.get(key) ?? { raw: 0, base: 0 }
      const base = raw < last.raw ? last.base + last.raw : last.base
      this.#seen.set(key, { raw, base })
      found.set(key, { open: Number(open), total: base + raw })
    }
    for (const [key, { raw, base }] of this.#seen) {
      if (found.has(key)) continue
      this.#seen.set(key, { raw: 0, base: base + raw })
      found.set(key, { open: 0, total: base + raw })
    }
    return found
  }

  /** Must be called when another HAProxy runs, which counts from 0. */
  restart(): void {
    for (const [key, { raw, base }] of this.#seen) this.#seen.set(key, { raw: 0, base: base + raw })
  }
}

const line = /^\S+ key=(\S+) [^\n]*\bconn_cur=(\d+) [^\n]*\bhttp_req_cnt=(\d+)/gm
