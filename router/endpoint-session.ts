import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { after } from './clock.ts'
import { limits } from './limits.ts'
import { SessionMemory } from './session-memory.ts'

/** The types of Node.js do not know this option yet. */
const lenience = { strictSingleValueFields: false }

/** One HTTP/2 connection to an endpoint, without TLS. */
export class EndpointSession {
  readonly session: ClientHttp2Session
  readonly #memory: SessionMemory
  #streams = 0
  #isReady = false
  #isDoubtful = false
  #streamsAtEnd: number | undefined
  /** The last stream that the endpoint processes, once it has announced its end. */
  #last: number | undefined
  #cancelIdle = (): void => {}

  /** `label` is the address in the form of a Host header. */
  constructor(socket: Socket, label: string) {
    this.session = connect(`http://${label}`, {
      createConnection: () => socket,
      settings: {
        enablePush: false,
        initialWindowSize: limits.streamWindowBytes,
        maxHeaderListSize: limits.headerBytes,
      },
      peerMaxConcurrentStreams: limits.streamsPerConnection,
      maxHeaderListPairs: limits.streamFields,
      ...lenience,
    })
    this.#memory = new SessionMemory(this.session)
    this.session.on('error', () => this.session.destroy())
    this.session.once('remoteSettings', () => {
      this.#isReady = true
    })
    this.session.on('goaway', (_code: number, last: number) => {
      this.#last = last
    })
    this.session.once('close', () => this.#cancelIdle())
  }

  /** How many streams the endpoint accepts at the same time. */
  get most(): number {
    const { maxConcurrentStreams = limits.streamsPerConnection } = this.session.remoteSettings
    return Math.min(maxConcurrentStreams, limits.openPerEndpoint)
  }

  /** Whether another request may be sent. */
  get isFree(): boolean {
    const { closed, destroyed } = this.session
    return this.#isReady && !this.#isDoubtful && !closed && !destroyed && this.#streams < this.most
  }

  get streams(): number {
    return this.#streams
  }

  /** Whether the endpoint has announced the end of the connection. */
  get isLeaving(): boolean {
    return this.#last !== undefined
  }

  /** Whether the endpoint has announced that it does not process a stream. */
  isUnprocessed({ id }: ClientHttp2Stream): boolean {
    return this.#last !== undefined && id !== undefined && id > this.#last
  }

  /**
   * Whether several requests were open when the connection ended. Any of them may be the reason.
   * Must be asked for the first request that ends with it.
   */
  get wasShared(): boolean {
    this.#streamsAtEnd ??= this.#streams
    return this.#streamsAtEnd > 1
  }

  /** Counts one more request. `end` must follow exactly once. */
  begin(): void {
    this.#cancelIdle()
    this.#streams++
  }

  /** Keeps what Node.js needs until a stream is freed. */
  hold(stream: ClientHttp2Stream): void {
    this.#memory.outlive(stream)
  }

  end(): void {
    this.#streams--
  }

  /** Closes the connection after this time without a request. */
  rest(idleMs: number): void {
    if (this.#streams > 0 || this.session.destroyed) return
    this.#cancelIdle()
    this.#cancelIdle = after(idleMs, () => this.session.close())
  }

  /**
   * Checks whether the endpoint still reads, because it has not answered a request in time. Until
   * it replies, no request is sent over this connection.
   */
  probe(): void {
    if (this.#isDoubtful || this.session.destroyed) return
    this.#isDoubtful = true
    const cancel = after(limits.probeMs, () => this.session.destroy())
    this.session.ping((error) => {
      cancel()
      if (error === null) this.#isDoubtful = false
    })
  }
}
