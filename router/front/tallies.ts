/** The requests of one endpoint that HAProxy carries. */
export interface Tally {
  readonly open: number
  /** Every request so far. It only grows while this process runs. */
  readonly total: number
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

/** The counts of an endpoint since HAProxy has its entry. */
interface Row extends Carried {
  readonly requests: number
}

interface Seen {
  readonly row: Row
  readonly total: number
}

const nothing: Row = { requests: 0, statuses: [0, 0, 0, 0, 0], left: 0, bytesIn: 0, bytesOut: 0 }

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
 * Reads the counts of endpoints from HAProxy by their keys, across its restarts. An endpoint that
 * neither HAProxy nor the table has any more is forgotten.
 */
export class Tallies {
  readonly #isListed: (key: string) => boolean
  readonly #seen = new Map<string, Seen>()
  /** The counts of each endpoint since the last call of `take`. */
  readonly #fresh = new Map<string, Carried>()

  constructor(isListed: (key: string) => boolean) {
    this.#isListed = isListed
  }

  /** Returns how many endpoints are remembered. */
  get size(): number {
    return this.#seen.size
  }

  /**
   * Reads the answer to `show table endpoints`. Without an answer, because HAProxy does not run,
   * no request is open.
   */
  read(text: string | undefined): ReadonlyMap<string, Tally> {
    const found = new Map<string, Tally>()
    for (const fields of fieldsIn(text ?? '')) {
      const key = fields.get('key') ?? ''
      const total = this.#note(key, rowOf(fields))
      found.set(key, { open: Number(fields.get('conn_cur') ?? 0), total })
    }
    for (const [key, { total }] of this.#seen) {
      if (found.has(key)) continue
      if (text !== undefined) this.#seen.set(key, { row: nothing, total })
      if (this.#isListed(key)) found.set(key, { open: 0, total })
      else if (text !== undefined) this.#seen.delete(key)
    }
    return found
  }

  /**
   * Returns what each endpoint added since the last call. Skips what another router returned. The
   * bytes of a long response come after its status. HAProxy also counts the bytes of requests that
   * it left to the router, which are skipped if nothing else was carried.
   */
  take(): ReadonlyMap<string, Carried> {
    const taken = new Map(
      [...this.#fresh].filter(([, { statuses, left, bytesIn, bytesOut }]) => {
        const isCarried = statuses.some((count) => count > 0)
        return isCarried || (left === 0 && bytesIn + bytesOut > 0)
      }),
    )
    this.#fresh.clear()
    return taken
  }

  /** Counts from the rows of an earlier answer on, which another router has read last. */
  continueAfter(text: string): void {
    this.#fresh.clear()
    for (const fields of fieldsIn(text)) {
      const row = rowOf(fields)
      const key = fields.get('key') ?? ''
      const { row: last, total } = this.#seen.get(key) ?? { row: nothing, total: 0 }
      this.#seen.set(key, { row, total: total - last.requests + row.requests })
    }
  }

  /** Must be called when another HAProxy runs, which counts from 0. */
  restart(): void {
    for (const [key, { total }] of this.#seen) this.#seen.set(key, { row: nothing, total })
  }

  /** Adds what changed since the last row. Returns the total of requests. */
  #note(key: string, row: Row): number {
    const last = this.#seen.get(key)
    const change = changeOf(row, last?.row ?? nothing)
    const total = (last?.total ?? 0) + change.requests
    this.#seen.set(key, { row, total })
    const fresh = this.#fresh.get(key) ?? nothing
    this.#fresh.set(key, {
      statuses: change.statuses.map((count, index) => count + (fresh.statuses[index] ?? 0)),
      left: change.left + fresh.left,
      bytesIn: change.bytesIn + fresh.bytesIn,
      bytesOut: change.bytesOut + fresh.bytesOut,
    })
    return total
  }
}

const splitAt = (text: string, at: number): [string, string] => [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]

/** Returns the fields of each row of an answer. */
const fieldsIn = (text: string): readonly ReadonlyMap<string, string>[] =>
  text
    .split('\n')
    .map((line) => new Map(line.split(' ').map((field) => splitAt(field, field.indexOf('=')))))
    .filter((fields) => fields.has('key'))

function rowOf(fields: ReadonlyMap<string, string>): Row {
  const of = (name: string): number => Number(fields.get(name) ?? 0)
  return {
    requests: of('http_req_cnt'),
    statuses: nothing.statuses.map((_, index) => of(`gpc${index}`)),
    left: of(`gpc${nothing.statuses.length}`),
    bytesIn: of('bytes_in_cnt'),
    bytesOut: of('bytes_out_cnt'),
  }
}

/** HAProxy counts bytes with 64 bits, and all else with 32, which begin again at 0. */
const range = 2 ** 32

/** HAProxy forgets an endpoint without requests after a day, and then counts from 0. */
function changeOf(row: Row, last: Row): Row {
  const before = isCountedFromZero(row, last) ? nothing : last
  const grown = (count: number, from: number): number => (count < from ? count + range : count) - from
  return {
    requests: grown(row.requests, before.requests),
    statuses: row.statuses.map((count, index) => grown(count, before.statuses[index] ?? 0)),
    left: grown(row.left, before.left),
    bytesIn: row.bytesIn - before.bytesIn,
    bytesOut: row.bytesOut - before.bytesOut,
  }
}

/**
 * Whether an entry has been dropped since its last row. Bytes of an entry never fall, and no count
 * grows by half of its range between two looks.
 */
function isCountedFromZero(row: Row, last: Row): boolean {
  const fell = (count: number, from: number): boolean => count < from && from - count <= range / 2
  return (
    row.bytesIn < last.bytesIn ||
    row.bytesOut < last.bytesOut ||
    fell(row.requests, last.requests) ||
    fell(row.left, last.left) ||
    row.statuses.some((count, index) => fell(count, last.statuses[index] ?? 0))
  )
}
