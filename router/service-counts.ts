import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { bucketOf, type CountBatch, countAt, countLength } from '@quayside/contract/traffic-counts.ts'
import type { Carried } from './front/tallies.ts'

/** The numbers of one service since the last batch, in the layout of `countAt`. */
export type Counter = Float64Array

/** A joined connection, with its bytes that are counted so far. */
interface Tunnel {
  readonly counter: Counter
  bytesIn: number
  bytesOut: number
}

/**
 * Counts the traffic of each service. The control plane takes the numbers in batches: one is
 * repeated until its number is acknowledged, so that it can be stored exactly once. A service that
 * ever had traffic keeps 400 bytes.
 */
export class ServiceCounts {
  readonly source: string = randomUUID()
  readonly #counters = new Map<string, Counter>()
  /** Connections by their sockets to endpoints. */
  readonly #tunnels = new Map<Socket, Tunnel>()
  #batch = 0
  #pending: CountBatch | undefined

  /** Returns the counter of a service. It never changes, so a stream can keep it. */
  of(service: string): Counter {
    const known = this.#counters.get(service)
    if (known) return known
    const counter = new Float64Array(countLength)
    this.#counters.set(service, counter)
    return counter
  }

  /**
   * Counts one request that has ended. Times are milliseconds since its head arrived; a negative
   * one is unknown.
   */
  recordRequest(
    service: string,
    status: number,
    bytesIn: number,
    bytesOut: number,
    firstByteMs: number,
    wholeMs: number,
  ): void {
    const counter = this.of(service)
    addBytes(counter, bytesIn, bytesOut)
    addRequest(counter, status, firstByteMs, wholeMs)
  }

  /** Counts requests that another program carried. Their times come with `recordTimes`. */
  recordCarried(service: string, { statuses, bytesIn, bytesOut }: Carried): void {
    const counter = this.of(service)
    addBytes(counter, bytesIn, bytesOut)
    for (const [position, count] of statuses.entries()) counter[position] = (counter[position] ?? 0) + count
  }

  /** Adds the times in milliseconds of a carried request that stands for `weight` ones. */
  recordTimes(service: string, firstByteMs: number, wholeMs: number, weight: number): void {
    const counter = this.of(service)
    addTime(counter, countAt.firstByteMs, countAt.firstByte, firstByteMs, weight)
    addTime(counter, countAt.wholeMs, countAt.whole, wholeMs, weight)
  }

  /**
   * Counts a request that the router answered itself, or that got no whole answer. It may stand for
   * several ones.
   */
  recordOwn(service: string, status: number, wholeMs: number, weight = 1): void {
    const counter = this.of(service)
    addRequest(counter, status, wholeMs, wholeMs, weight)
    counter[countAt.own] = (counter[countAt.own] ?? 0) + weight
  }

  /** Counts a connection of a TCP port, or a client of a UDP port. */
  recordConnection(service: string): void {
    const counter = this.of(service)
    counter[countAt.connections] = (counter[countAt.connections] ?? 0) + 1
  }

  /** Counts the bytes of a joined connection while it lives. `socket` leads to the endpoint. */
  watch(service: string, socket: Socket): void {
    const tunnel: Tunnel = { counter: this.of(service), bytesIn: 0, bytesOut: 0 }
    this.#tunnels.set(socket, tunnel)
    socket.once('close', () => {
      settle(socket, tunnel)
      this.#tunnels.delete(socket)
    })
  }

  /**
   * Returns the batch to store next. `stored` is the last number that the control plane has stored.
   * Undefined if nothing was counted.
   */
  take(stored: number): CountBatch | undefined {
    if (this.#pending && stored >= this.#pending.batch) this.#pending = undefined
    this.#pending ??= this.#collect(true)
    if (this.#pending) this.#batch = this.#pending.batch
    return this.#pending
  }

  /** Returns all batches that are not acknowledged. Counting continues. */
  left(): readonly CountBatch[] {
    return [this.#pending, this.#collect(false)].filter((batch) => batch !== undefined)
  }

  #collect(isTaken: boolean): CountBatch | undefined {
    for (const [socket, tunnel] of this.#tunnels) settle(socket, tunnel)
    const counts: Record<string, readonly number[]> = {}
    for (const [service, counter] of this.#counters) {
      if (counter.every((count) => count === 0)) continue
      counts[service] = Array.from(counter, Math.round)
      if (isTaken) counter.fill(0)
    }
    return Object.keys(counts).length === 0 ? undefined : { source: this.source, batch: this.#batch + 1, counts }
  }
}

/** Adds bytes, for example those of a stream that has not ended. */
export function addBytes(counter: Counter, bytesIn: number, bytesOut: number): void {
  counter[countAt.bytesIn] = (counter[countAt.bytesIn] ?? 0) + bytesIn
  counter[countAt.bytesOut] = (counter[countAt.bytesOut] ?? 0) + bytesOut
}

/**
 * Adds one request, or several like it, by its status and its times in milliseconds. A negative
 * time is unknown.
 */
export function addRequest(
  counter: Counter,
  status: number,
  firstByteMs: number,
  wholeMs: number,
  weight?: number,
): void {
  const position = Math.min(Math.max(Math.trunc(status / 100), 1), 5) - 1
  counter[position] = (counter[position] ?? 0) + (weight ?? 1)
  if (firstByteMs >= 0) addTime(counter, countAt.firstByteMs, countAt.firstByte, firstByteMs, weight)
  if (wholeMs >= 0) addTime(counter, countAt.wholeMs, countAt.whole, wholeMs, weight)
}

function addTime(counter: Counter, sum: number, histogram: number, ms: number, weight = 1): void {
  const bucket = histogram + bucketOf(ms)
  counter[sum] = (counter[sum] ?? 0) + ms * weight
  counter[bucket] = (counter[bucket] ?? 0) + weight
}

/** Bytes that wait in this process are not counted: a connection that breaks off drops them. */
function settle(socket: Socket, tunnel: Tunnel): void {
  const bytesIn = socket.bytesWritten - socket.writableLength
  const bytesOut = socket.bytesRead
  addBytes(tunnel.counter, bytesIn - tunnel.bytesIn, bytesOut - tunnel.bytesOut)
  tunnel.bytesIn = bytesIn
  tunnel.bytesOut = bytesOut
}

/**
 * Returns the length of a head that has these raw headers, each with `: ` and a line break. Its
 * first line is taken for 16 bytes.
 */
export function headBytes(raw: readonly { readonly length: number }[]): number {
  let length = 18 + raw.length * 2
  for (const each of raw) length += each.length
  return length
}
