import { constants, type ServerHttp2Stream } from 'node:http2'
import type { ClientResponse } from './client-message.ts'
import { joinedFields } from './joined-fields.ts'
import { limits } from './limits.ts'

/** Headers of one connection that HTTP/2 forbids and `responseHeaders` keeps. */
const unsendable = new Set(['http2-settings', 'te'])

/** The states of a stream whose client has not sent its last byte. */
const sending: ReadonlySet<number | undefined> = new Set([
  constants.NGHTTP2_STREAM_STATE_OPEN,
  constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_LOCAL,
])

/** The response to a stream of HTTP/2. */
export class StreamResponse implements ClientResponse {
  shouldKeepAlive = true
  statusCode = 200
  readonly #stream: ServerHttp2Stream
  /** Names and values in turn. */
  #trailers: readonly string[] = []
  #head: string[] | undefined
  #awaitsTrailers = false
  #hints = 0

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  get headersSent(): boolean {
    return this.#head !== undefined || this.#stream.headersSent
  }

  get writableEnded(): boolean {
    return this.#stream.writableEnded
  }

  get destroyed(): boolean {
    return this.#isGone
  }

  writeContinue(): void {
    this.#inform([':status', '100'])
  }

  /** Drops hints beyond a limit: Node.js would keep all that the client has not read. */
  writeHints(headers: readonly string[]): void {
    this.#hints++
    if (this.#hints <= limits.hintsPerResponse) this.#inform([':status', '103', ...sendable(headers)])
  }

  /** Throws if HTTP/2 cannot send this. */
  writeHead(status: number, ...rest: [string[]] | [string, string[]]): void {
    const headers = rest.length === 1 ? rest[0] : rest[1]
    if (!canSend(status, headers)) throw new Error('the response has a status or headers that HTTP/2 cannot send')
    this.statusCode = status
    this.#head = [':status', String(status), ...sendable(headers)]
  }

  /** A response that has ended by then has no body. Its headers are then its last frame. */
  flushHeaders(): void {
    this.#respond(false)
  }

  write(chunk: Buffer): boolean {
    this.#respond(false)
    return this.#stream.writableEnded || this.#isGone || this.#stream.write(chunk)
  }

  addTrailers(pairs: [string, string][]): void {
    this.#trailers = [...this.#trailers, ...sendable(pairs.flat())]
  }

  end(chunk?: Buffer | string, encoding: 'latin1' = 'latin1'): void {
    this.#respond(chunk === undefined && !this.#hasTrailers)
    if (this.#isGone) return
    if (!this.#stream.writableEnded) {
      if (chunk === undefined) this.#stream.end()
      else this.#stream.end(chunk, encoding)
    }
    if (!this.#awaitsTrailers) this.#stopReading()
  }

  destroy(): void {
    if (!this.#isGone) this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  on(event: 'close' | 'drain', listener: () => void): this {
    this.#stream.on(event, listener)
    return this
  }

  once(event: 'close' | 'drain', listener: () => void): this {
    this.#stream.once(event, listener)
    return this
  }

  get #isGone(): boolean {
    return this.#stream.destroyed || this.#stream.closed
  }

  /** Sends the headers. `isWhole` says that nothing follows them. */
  #respond(isWhole: boolean): void {
    const head = this.#head ?? [':status', '200']
    if (this.#stream.headersSent || this.#isGone) return
    // A body of known length has no trailers in HTTP/1.1.
    this.#awaitsTrailers = !isWhole && !head.some((name, index) => index % 2 === 0 && /^content-length$/i.test(name))
    if (this.#awaitsTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers())
    this.#stream.respond(head, { endStream: isWhole, waitForTrailers: this.#awaitsTrailers })
  }

  get #hasTrailers(): boolean {
    return this.#trailers.length > 0
  }

  #inform(fields: string[]): void {
    if (this.#isGone || this.headersSent) return
    this.#stream.additionalHeaders(joinedFields(fields))
  }

  #sendTrailers(): void {
    if (this.#isGone) return
    this.#stream.sendTrailers(joinedFields(this.#trailers))
    this.#stopReading()
  }

  /**
   * Asks the client to send no more of its body, because the response is complete (RFC 9113, 8.1).
   */
  #stopReading(): void {
    const { endAfterHeaders, readableEnded, state } = this.#stream
    if (endAfterHeaders || readableEnded || !sending.has(state.state)) return
    this.#stream.close(constants.NGHTTP2_NO_ERROR)
  }
}

/**
 * Whether HTTP/2 can send the head of a response. With more headers the whole connection of the
 * client would end. Node.js fails with other statuses.
 */
export const canSend = (status: number, headers: readonly string[]): boolean =>
  status >= 200 && status <= 599 && headers.length <= 2 * limits.responseFields

/** Returns the headers without the ones that HTTP/2 forbids. */
export const sendable = (headers: readonly string[]): string[] =>
  headers.some((name) => unsendable.has(name.toLowerCase()))
    ? headers.filter((_, index) => !unsendable.has(headers[index - (index % 2)]?.toLowerCase() ?? ''))
    : [...headers]
