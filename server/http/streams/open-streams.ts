import type { Socket } from 'node:net'
import type { Authorized } from '../../access/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, messageOf } from '../../lib/error.ts'
import type { Logger } from '../../lib/log.ts'
import { createSilentPeers } from './silent-peers.ts'
import { createStreamPlaces, type StreamLimits, type StreamOwner } from './stream-places.ts'

/** A connection over which somebody is sent what is new. */
export interface OpenStream {
  readonly socket: Socket
  /** Streams with the same key are checked together: the same credential asks for the same. */
  readonly key: string
  /** Asks anew who this is and whether he may. */
  check(): Promise<Authorized>
  /** He may; perhaps something else than before. */
  renew(authorized: Authorized): void
  /** Every ten seconds: shows both sides that the other one is there. */
  beat(): void
  /** `error`: he may not any more. Without one, it ends here but may be opened again. */
  end(error?: AppError): void
}

/**
 * All open streams of this server: how many each may have, that they are still allowed, and that
 * somebody is at their other end.
 */
export interface OpenStreams {
  /** Throws 429 beyond the limits. Call what it gives when the stream is closed. */
  reserve(owner: StreamOwner): () => void
  add(stream: OpenStream): void
  remove(stream: OpenStream): void
  /**
   * Ends them all and takes no further ones; who does not take part in the end within a second is
   * cut off.
   */
  close(): Promise<void>
}

export interface OpenStreamsOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly limits: StreamLimits
}

/** Revoked rights end a stream within five seconds: a round, and the time that it takes. */
const checkEveryMs = 3_000
const beatEveryRounds = 3
/** A stream whose rights could not be looked at for so many rounds in a row ends. */
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

  reserve(owner: StreamOwner): () => void {
    if (this.#closing.signal.aborted) throw new AppError('unavailable', 'The server is being stopped; connect again.')
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

  /** True where it cannot be said whether they still may. */
  async #checkGroup(group: readonly OpenStream[]): Promise<boolean> {
    try {
      const authorized = await group[0]?.check()
      if (authorized) for (const stream of group) stream.renew(authorized)
      return false
    } catch (error) {
      const isRefused = error instanceof AppError && error.code !== 'unavailable'
      if (isRefused) for (const stream of group) stream.end(error)
      else this.#options.log.warn({ reason: messageOf(error) }, 'the rights of open streams could not be checked')
      return !isRefused
    }
  }

  /** Those whose other end does not acknowledge what it is sent. */
  async #cutSilent(): Promise<void> {
    const isSilent = await this.#peers.look()
    if (!isSilent) return
    for (const { socket } of [...this.#streams]) if (isSilent(socket)) socket.destroy()
  }
}
