/** The requests of one endpoint that HAProxy carries. */
export interface Tally {
  readonly open: number
  /** Every request so far. It only grows while this process runs. */
  readonly total: number
  /** What ended since HAProxy started. */
  readonly carried: Carried
}

/**
 * Answered requests by the class of their status, from 1xx to 5xx, and bytes of clients, which
 * HAProxy adds when a request ends.
 */
export interface Carried {
  readonly statuses: readonly number[]
  /** Requests that the router answered, because the endpoint did not. The router counts them. */
  readonly left: number
  readonly bytesIn: number
  readonly bytesOut: number
}

interface Seen {
  readonly raw: number
  /** Added to the raw number. An entry that HAProxy has dropped starts at 0 again. */
  readonly base: number
}

const nothing: Carried = { statuses: [0, 0, 0, 0, 0], left: 0, bytesIn: 0, bytesOut: 0 }

/** Returns how many requests are open, by answers to the commands of `shownCounts`. */
export const openIn = (text: string): number =>
  [...text.matchAll(/ conn_cur=(\d+)/g)].reduce((sum, [, open = '0']) => sum + Number(open), 0)

const keysAtOnce = 100

/**
 * Returns the commands that show the counts of these endpoints, in lines that fit HAProxy's buffer.
 * A drain looks many times a second, so it must not read the counts of all endpoints.
 */
export const shownCounts = (keys: readonly string[]): readonly string[] =>
  Array.from({ length: Math.ceil(keys.length / keysAtOnce) }, (_, at) => {
    const some = keys.slice(at * keysAtOnce, (at + 1) * keysAtOnce)
    return some.map((key) => `show table endpoints key ${key}`).join('; ')
  })

/**
 * Reads the counts of endpoints from HAProxy, across its restarts. Keys are `address:port`. An
 * endpoint that neither HAProxy nor the table has any more is forgotten.
 */
export class Tallies {
  readonly #isListed: (key: string) => boolean
  readonly #seen = new Map<string, Seen>()
  /** What of each endpoint was returned by `since`. */
  readonly #taken = new Map<string, Carried>()

  constructor(isListed: (key: string) => boolean) {
    this.#isListed = isListed
  }

  /** Returns how many endpoints are remembered. */
  get size(): number {
    return this.#seen.size
  }

  /** Reads the answer to `show table endpoints`. */
  read(text: string): ReadonlyMap<string, Tally> {
    const found = new Map<string, Tally>()
    for (const line of text.split('\n')) {
      const fields = new Map(line.split(' ').map((field) => splitAt(field, field.indexOf('='))))
      const key = fields.get('key')
      if (key === undefined) continue
      const of = (name: string): number => Number(fields.get(name) ?? 0)
      const statuses = nothing.statuses.map((_, index) => of(`gpc${index}`))
      const bytes = { bytesIn: of('bytes_in_cnt'), bytesOut: of('bytes_out_cnt') }
      const carried = { statuses, left: of(`gpc${statuses.length}`), ...bytes }
      found.set(key, { open: of('conn_cur'), total: this.#totalOf(key, of('http_req_cnt')), carried })
    }
    for (const key of this.#seen.keys()) {
      if (found.has(key)) continue
      if (this.#isListed(key)) found.set(key, { open: 0, total: this.#totalOf(key, 0), carried: nothing })
      else this.#forget(key)
    }
    return found
  }

  /**
   * Returns what each endpoint added since the last call. Skips what another router returned. The
   * bytes of a long response come after its status. HAProxy also counts the bytes of requests that
   * it left to the router, which are skipped if nothing else was carried.
   */
  since(tallies: ReadonlyMap<string, Tally>): ReadonlyMap<string, Carried> {
    const added = new Map<string, Carried>()
    for (const [key, { carried }] of tallies) {
      const change = changeOf(carried, this.#taken.get(key) ?? nothing)
      this.#taken.set(key, carried)
      const isCarried = change.statuses.some((count) => count > 0)
      const hasBytes = change.left === 0 && change.bytesIn + change.bytesOut > 0
      if (isCarried || hasBytes) added.set(key, change)
    }
    return added
  }

  /** Must be called when another HAProxy runs, which counts from 0. */
  restart(): void {
    this.#taken.clear()
    for (const [key, { raw, base }] of this.#seen) this.#seen.set(key, { raw: 0, base: base + raw })
  }

  #forget(key: string): void {
    this.#seen.delete(key)
    this.#taken.delete(key)
  }

  #totalOf(key: string, raw: number): number {
    const last = this.#seen.get(key) ?? { raw: 0, base: 0 }
    const base = raw < last.raw ? last.base + last.raw : last.base
    this.#seen.set(key, { raw, base })
    return base + raw
  }
}

const splitAt = (text: string, at: number): [string, string] => [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]

/** HAProxy forgets an endpoint without requests after a day, and then counts from 0. */
function changeOf(after: Carried, last: Carried): Carried {
  const fell = after.statuses.some((count, index) => count < (last.statuses[index] ?? 0)) || after.left < last.left
  const before = fell ? nothing : last
  return {
    statuses: after.statuses.map((count, index) => count - (before.statuses[index] ?? 0)),
    left: after.left - before.left,
    bytesIn: Math.max(after.bytesIn - before.bytesIn, 0),
    bytesOut: Math.max(after.bytesOut - before.bytesOut, 0),
  }
}
