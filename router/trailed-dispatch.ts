import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { limits } from './limits.ts'
import { OwnDispatch } from './own-dispatch.ts'
import type { DispatchOptions, RequestTrailers } from './request-trailers.ts'
import { sendBody } from './send-body.ts'
import { Silence, sendingError } from './stream-dispatch.ts'

export interface TrailedOptions extends DispatchOptions {
  readonly trailers: RequestTrailers
}

/**
 * One request with trailers over HTTP/1.1 to an endpoint, which undici cannot send. It has a
 * connection of its own.
 */
export class TrailedDispatch extends OwnDispatch<TrailedOptions> {
  #outgoing: ClientRequest | undefined
  #answer: IncomingMessage | undefined

  /** Sends the request over a connection that it ends. */
  send(socket: Socket): void {
    if (!this.start()) {
      socket.destroy()
      return
    }
    try {
      const outgoing = open(this.options, socket)
      this.#outgoing = outgoing
      this.#listen(outgoing, socket)
      this.#sendBody(outgoing)
    } catch (error) {
      socket.destroy()
      this.fail(sendingError(error))
    }
  }

  pause(): void {
    this.paused = true
    this.#answer?.pause()
  }

  resume(): void {
    this.paused = false
    this.#answer?.resume()
  }

  #listen(outgoing: ClientRequest, socket: Socket): void {
    const { headersTimeout, bodyTimeout } = this.options
    const silent = (): void => this.abort(new Silence('no bytes in time'))
    socket.setTimeout(headersTimeout ?? limits.answerMs, silent)
    outgoing.on('error', (error) => this.fail(error))
    // It asked for no other protocol, so this answer is invalid. Nothing else would report its end.
    outgoing.once('upgrade', (_answer, joined) => {
      joined.destroy()
      this.fail(Object.assign(new Error('the endpoint switched protocols unasked'), { code: 'HPE_INVALID_STATUS' }))
    })
    outgoing.on('information', ({ statusCode, rawHeaders }) => this.begin(statusCode, rawHeaders, ''))
    outgoing.once('response', (answer) => {
      this.#answer = answer
      socket.setTimeout(bodyTimeout ?? 0)
      answer.on('error', (error) => this.fail(error))
      answer.on('data', (chunk: Buffer) => this.receive(chunk))
      answer.once('end', () => this.finish(answer.rawTrailers))
      this.begin(answer.statusCode ?? 0, answer.rawHeaders, answer.statusMessage ?? '')
    })
  }

  #sendBody(outgoing: ClientRequest): void {
    const { body, trailers } = this.options
    if (!(body instanceof Readable)) return void outgoing.end()
    // Node.js would wait for the first byte of the body, and `flushHeaders` change its headers.
    outgoing.write('', 'latin1')
    const end = (): void => {
      this.guard(() => outgoing.addTrailers(pairsOf(trailers.read())))
      if (!this.aborted) outgoing.end()
    }
    sendBody(body, outgoing, { sent: (chunk) => this.handler.onBodySent?.(chunk), end })
  }

  /** Nobody reads the rest of the body, unless nothing was sent yet. */
  protected release(): void {
    if (!this.#outgoing) return
    this.#outgoing.destroy()
    if (this.options.body instanceof Readable) this.options.body.destroy()
  }
}

function open({ method, path, headers, trailers }: TrailedOptions, socket: Socket): ClientRequest {
  const given = Array.isArray(headers) ? headers.map(String) : []
  const framing = ['Trailer', trailers.names, 'Transfer-Encoding', 'chunked', 'Connection', 'close']
  return sendRequest({
    createConnection: () => socket,
    method,
    path,
    headers: [...given, ...framing],
    maxHeaderSize: limits.headerBytes,
    setHost: false,
  })
}

const pairsOf = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
