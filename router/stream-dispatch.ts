import { type ClientHttp2Stream, constants } from 'node:http2'
import { Readable } from 'node:stream'
import type { EndpointSession } from './endpoint-session.ts'
import { joinedFields } from './joined-fields.ts'
import { limits } from './limits.ts'
import { codeOf } from './log.ts'
import { OwnDispatch } from './own-dispatch.ts'
import type { DispatchOptions } from './request-trailers.ts'
import { sendBody } from './send-body.ts'
import { breakOf, refused } from './stream-broken.ts'
import { watchEnd } from './stream-end.ts'

/** How often a request with a body is sent again that its endpoint has not processed. */
const repeats = 3

/** The endpoint was silent for too long. */
export class Silence extends Error {
  override readonly name = 'Silence'
  readonly code = 'UND_ERR_HEADERS_TIMEOUT'
}

interface Ending {
  /** Called once the stream is closed. */
  done(): void
  /** Called if this request may be the reason why its shared connection had to end. */
  suspect(): void
  /** Called after `done` if the endpoint has not processed the request, to send it again. */
  again(): void
}

/** One request over HTTP/2 to an endpoint. */
export class StreamDispatch extends OwnDispatch {
  #stream: ClientHttp2Stream | undefined
  #trailers: string[] | null = null
  #answered = false
  #bodyRead = false
  /** The bytes of the body that were sent. Undefined once they are too many to be sent again. */
  #kept: Buffer[] | undefined = []
  #keptBytes = 0
  #tries = 0

  /** Sends the request over a connection. */
  send(over: EndpointSession, ending: Ending): void {
    if (!this.start()) {
      ending.done()
      return
    }
    const { body } = this.options
    this.#tries++
    try {
      const stream = over.session.request(fieldsOf(this.options), {
        endStream: body === null || body === undefined,
        waitForTrailers: this.options.trailers !== undefined,
      })
      this.#stream = stream
      over.hold(stream)
      this.#listen(stream)
      this.#watch(stream, over, ending)
      if (body instanceof Readable) this.#sendBody(body, stream)
    } catch (error) {
      this.fail(sendingError(error))
      ending.done()
    }
  }

  pause(): void {
    this.paused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.paused = false
    this.#stream?.resume()
  }

  protected release(error?: Error): void {
    if (error) this.#stream?.close(constants.NGHTTP2_CANCEL)
  }

  #listen(stream: ClientHttp2Stream): void {
    const isWhole = watchEnd(stream)
    stream.on('headers', (headers, _flags, raw: readonly string[]) => this.#inform(headers[':status'], raw))
    stream.on('response', (headers, flags, raw: readonly string[]) => {
      this.#inform(headers[':status'], raw)
      if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.finish(null)
    })
    stream.on('data', (chunk: Buffer) => this.receive(chunk))
    stream.on('trailers', (_headers, _flags, raw: readonly string[]) => {
      this.#trailers = [...raw]
    })
    stream.once('end', () => isWhole() && this.finish(this.#trailers))
  }

  /** Notices the end of the stream, and silence. */
  #watch(stream: ClientHttp2Stream, over: EndpointSession, { done, suspect, again }: Ending): void {
    let isConnectionInvalid = false
    stream.on('error', (error) => {
      isConnectionInvalid = codeOf(error) === 'ERR_HTTP2_ERROR'
      stream.destroy()
    })
    stream.once('close', () => {
      const isShared = over.session.destroyed && over.wasShared
      const { rstCode: code = 0 } = stream
      const isUnprocessed = over.isUnprocessed(stream) || code === constants.NGHTTP2_REFUSED_STREAM
      const broken = breakOf({
        ...{ code, isUnprocessed, isBodyRead: this.#bodyRead, isConnectionInvalid, isShared },
        isLeaving: over.isLeaving,
      })
      if (isShared && !isUnprocessed) suspect()
      if (isUnprocessed && this.#canRepeat) {
        done()
        // The listeners of this stream let go of the body first.
        process.nextTick(again)
        return
      }
      this.fail(broken)
      done()
    })
    const { headersTimeout, bodyTimeout } = this.options
    stream.setTimeout(headersTimeout ?? limits.answerMs, () => {
      over.probe()
      this.abort(new Silence('no bytes in time'))
    })
    stream.once('response', () => stream.setTimeout(bodyTimeout ?? 0))
  }

  /**
   * Whether the request may be sent again over another connection. Without a body, that is a
   * decision of the handler.
   */
  get #canRepeat(): boolean {
    return this.#bodyRead && this.#kept !== undefined && !this.#answered && !this.hasEnded && this.#tries <= repeats
  }

  #keep(chunk: Buffer): void {
    this.#bodyRead = true
    this.#keptBytes += chunk.length
    if (this.#keptBytes > limits.repeatedBodyBytes) this.#kept = undefined
    else this.#kept?.push(chunk)
    this.handler.onBodySent?.(chunk)
  }

  #sendBody(body: Readable, stream: ClientHttp2Stream): void {
    const { trailers } = this.options
    for (const chunk of this.#kept ?? []) stream.write(chunk)
    if (body.readableEnded) stream.end()
    else sendBody(body, stream, { sent: (chunk) => this.#keep(chunk), end: () => void stream.end() })
    // A stream that closes pauses it.
    body.resume()
    if (trailers)
      stream.once('wantTrailers', () => this.guard(() => stream.sendTrailers(joinedFields(trailers.read()))))
  }

  #inform(status: number | undefined, raw: readonly string[]): void {
    this.#answered = true
    this.begin(status ?? 0, withoutPseudo(raw))
  }
}

/** A connection that just ended has not sent the request. Other errors are its own fault. */
export function sendingError(error: unknown): Error {
  const code = codeOf(error)
  const isGone = code === 'ERR_HTTP2_INVALID_SESSION' || code === 'ERR_HTTP2_GOAWAY_SESSION'
  if (isGone) return refused()
  return Object.assign(new Error('the request cannot be sent', { cause: error }), { code: 'UND_ERR_INVALID_ARG' })
}

/** Returns the fields of a request: its pseudo-headers, then its headers without Host. */
function fieldsOf({ method, path, headers, trailers }: DispatchOptions): string[] {
  const given = Array.isArray(headers) ? headers.map(String) : []
  const rest: string[] = []
  let host = ''
  for (let index = 0; index + 1 < given.length; index += 2) {
    const [name = '', value = ''] = [given[index]?.toLowerCase(), given[index + 1]]
    if (name === 'host') host = value
    else rest.push(name, value)
  }
  if (trailers) rest.push('trailer', trailers.names)
  return [':method', method, ':scheme', 'http', ':authority', host, ':path', path, ...rest, 'te', 'trailers']
}

const withoutPseudo = (raw: readonly string[]): string[] =>
  raw.filter((_, index) => !raw[index - (index % 2)]?.startsWith(':'))
