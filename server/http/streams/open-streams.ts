import type { Socket } from 'node:net'
import type { Authorized } from '../../access/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import type { Logger } from '../../lib/log.ts'
import { createSilentPeers } from './silent-peers.ts'
import { createStreamPlaces, type StreamLimits, type StreamOwner, type StreamPlace } from './stream-places.ts'

/** A connection that receives events as they happen. */
export interface OpenStream {
  readonly socket: Socket
  /** Streams with the same key have the same credential and query, and are checked together. */
  readonly key: string
  /** Authenticates and authorises the caller again. */
  check(): Promise<Authorized>
  /** Applies the caller's rights, which may have changed. */
  renew(authorized: Authorized): void
  /** Called every ten seconds. Shows each side that the other is still connected. */
  beat(): void
  /** Ends the stream. With `error` the caller lost the right; without it, it may reconnect. */
  end(error?: AppError): void
}

/** The open streams of this server. Limits them, checks their rights, and closes dead ones. */
export interface OpenStreams {
  /** Reserves a stream. Throws 429 beyond the limits. Release the place when the stream closes. */
  reserve(owner: StreamOwner): StreamPlace
  add(stream: OpenStream): void
  remove(stream: OpenStream): void
  /**
   * Ends all streams and accepts no others. A stream that has not closed within a second is
   * destroyed.
   */
  close(): Promise<void>
}

export interface OpenStreamsOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly limits: StreamLimits
}

/** Ends a stream within five seconds of a revoked right: one round and the check itself. */
const checkEveryMs = 3_000
const beatEveryRounds = 3
/** A stream ends after this many failed checks in a row. */
const mostUnchecked = 5
const graceMs = 1_000

export const createOpenStreams = (options: OpenStreamsOptions): OpenStreams => new StreamTable(options)

class StreamTable implements OpenStreams {
  readonly #options: OpenStreamsOptions
  readonly #streams = new Set<OpenStream>()
  readonly #closing = new AbortController()
  readonly #peers = createSilentPeers()
  readonly #take: ReturnType<typeof createStreamPlaces>
  #isLooking = false
  #unchecked = 0

  constructor(options: OpenStreamsOptions) {
    this.#options = options
    this.#take = createStreamPlaces(options.limits)
  }

  reserve(owner: StreamOwner): StreamPlace {
    if (this.#closing.signal.aborted) throw new AppError('unavailable', 'The server is shutting down; connect again.')
    return this.#take(owner)
  }

  add(stream: OpenStream): void {
    this.#streams.add(stream)
    if (this.#closing.signal.aborted) stream.end()
    else if (!this.#isLooking) void this.#look()
  }

  remove(stream: OpenStream): void {
    this.#streams.delete(stream)
  }

  async close(): Promise<void> {
    const { clock } = this.#options
    this.#closing.abort()
    for (const stream of [...this.#streams]) stream.end()
    const end = clock.monotonic() + graceMs
    while (this.#streams.size > 0 && clock.monotonic() < end) await clock.sleep(20)
    for (const { socket } of [...this.#streams]) socket.destroy()
  }

  async #look(): Promise<void> {
    const { signal } = this.#closing
    this.#isLooking = true
    for (let round = 1; this.#streams.size > 0 && !signal.aborted; round++) {
      await this.#options.clock.sleep(checkEveryMs, signal).catch(() => {})
      if (signal.aborted) break
      await this.#checkAll()
      if (round % beatEveryRounds !== 0) continue
      await this.#cutSilent()
      for (const stream of this.#streams) stream.beat()
    }
    this.#isLooking = false
  }

  async #checkAll(): Promise<void> {
    const groups = Map.groupBy(this.#streams, ({ key }) => key)
    const failures = await Promise.all([...groups.values()].map((group) => this.#checkGroup(group)))
    this.#unchecked = failures.includes(true) ? this.#unchecked + 1 : 0
    if (this.#unchecked < mostUnchecked) return
    this.#unchecked = 0
    for (const stream of [...this.#streams]) stream.end()
  }

  /** Checks streams with the same key. Returns true if the check failed. */
  async #checkGroup(group: readonly OpenStream[]): Promise<boolean> {
    try {
      const authorized = await group[0]?.check()
      if (authorized) for (const stream of group) stream.renew(authorized)
      return false
    } catch (error) {
      const isRefused = error instanceof AppError && error.code !== 'unavailable'
      if (isRefused) for (const stream of group) stream.end(error)
      else this.#options.log.warn({ reason: messageOf(error) }, 'could not check the rights of open streams')
      return !isRefused
    }
  }

  /** Destroys connections whose peer does not acknowledge data. */
  async #cutSilent(): Promise<void> {
    const isSilent = await this.#peers.look()
    if (!isSilent) return
    for (const { socket } of [...this.#streams]) if (isSilent(socket)) socket.destroy()
  }
}
