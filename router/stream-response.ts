import { constants, type ServerHttp2Stream } from 'node:http2'
import type { ClientResponse } from './client-message.ts'

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
  readonly #trailers: Record<string, string[]> = {}
  #awaitsTrailers = false

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
  }

  get headersSent(): boolean {
    return this.#stream.headersSent
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

  writeHints(headers: readonly string[]): void {
    this.#inform([':status', '103', ...sendable(headers)])
  }

  writeHead(status: number, ...rest: [string[]] | [string, string[]]): void {
    this.statusCode = status
    if (this.#isGone) return
    const headers = sendable(rest.length === 1 ? rest[0] : rest[1])
    // A body of known length has no trailers in HTTP/1.1.
    this.#awaitsTrailers = !headers.some((name, index) => index % 2 === 0 && /^content-length$/i.test(name))
    this.#stream.respond([':status', String(status), ...headers], { waitForTrailers: this.#awaitsTrailers })
    if (this.#awaitsTrailers) this.#stream.once('wantTrailers', () => this.#sendTrailers())
  }

  /** Node.js writes the headers by itself. */
  flushHeaders(): void {}

  write(chunk: Buffer): boolean {
    return this.#stream.writableEnded || this.#isGone || this.#stream.write(chunk)
  }

  addTrailers(pairs: [string, string][]): void {
    for (const [name, value] of pairs) {
      const lower = name.toLowerCase()
      this.#trailers[lower] = [...(this.#trailers[lower] ?? []), value]
    }
  }

  end(chunk?: Buffer | string, encoding: 'latin1' = 'latin1'): void {
    if (this.#isGone) return
    // A response without a body has ended with its headers.
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

  #inform(fields: string[]): void {
    if (this.#isGone || this.#stream.headersSent) return
    this.#stream.additionalHeaders(fromList(fields))
  }

  #sendTrailers(): void {
    if (this.#isGone) return
    this.#stream.sendTrailers(this.#trailers)
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

const sendable = (headers: readonly string[]): string[] =>
  headers.some((name) => unsendable.has(name.toLowerCase()))
    ? headers.filter((_, index) => !unsendable.has(headers[index - (index % 2)]?.toLowerCase() ?? ''))
    : [...headers]

function fromList(fields: readonly string[]): Record<string, string[] | string> {
  const listed: Record<string, string[] | string> = {}
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [name = '', value = ''] = [fields[index]?.toLowerCase(), fields[index + 1]]
    const before = listed[name]
    listed[name] = before === undefined ? value : [before, value].flat()
  }
  return listed
}
