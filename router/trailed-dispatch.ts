import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { limits } from './limits.ts'
import type { DispatchOptions, RequestTrailers } from './request-trailers.ts'
import { sendBody } from './send-body.ts'
import { Silence, sendingError } from './stream-dispatch.ts'

export interface TrailedOptions extends DispatchOptions {
  readonly trailers: RequestTrailers
}

/**
 * One request with trailers over HTTP/1.1 to an endpoint, which undici cannot send. It has a
 * connection of its own, and is the controller of its handler.
 */
export class TrailedDispatch implements Dispatcher.DispatchController {
  rawHeaders: string[] | null = null
  rawTrailers: string[] | null = null
  aborted = false
  paused = false
  reason: Error | null = null
  readonly #options: TrailedOptions
  readonly #handler: Dispatcher.DispatchHandler
  #outgoing: ClientRequest | undefined
  #answer: IncomingMessage | undefined
  #ended = false

  constructor(options: TrailedOptions, handler: Dispatcher.DispatchHandler) {
    this.#options = options
    this.#handler = handler
    // The body may fail before there is a connection.
    if (options.body instanceof Readable) options.body.once('error', (error) => this.abort(error))
  }

  /** Sends the request over a connection that it ends. */
  send(socket: Socket): void {
    if (!this.aborted) this.#handler.onRequestStart?.(this, {})
    if (this.aborted) {
      socket.destroy()
      return
    }
    try {
      const outgoing = open(this.#options, socket)
      this.#outgoing = outgoing
      this.#listen(outgoing, socket)
      this.#sendBody(outgoing)
    } catch (error) {
      socket.destroy()
      this.fail(sendingError(error))
    }
  }

  /** Reports an error to the handler, unless the response is complete. */
  fail(error: Error): void {
    if (this.#ended) return
    this.#end()
    this.#handler.onResponseError?.(this, error)
  }

  abort(reason: Error): void {
    if (this.aborted || this.#ended) return
    this.aborted = true
    this.reason = reason
    this.fail(reason)
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
    const { headersTimeout, bodyTimeout } = this.#options
    const silent = (): void => this.abort(new Silence('no bytes in time'))
    socket.setTimeout(headersTimeout ?? limits.answerMs, silent)
    outgoing.on('error', (error) => this.fail(error))
    // It asked for no other protocol, so this answer is invalid. Nothing else would report its end.
    outgoing.once('upgrade', (_answer, joined) => {
      joined.destroy()
      this.fail(Object.assign(new Error('the endpoint switched protocols unasked'), { code: 'HPE_INVALID_STATUS' }))
    })
    outgoing.on('information', ({ statusCode, rawHeaders }) => this.#begin(statusCode, rawHeaders, ''))
    outgoing.once('response', (answer) => {
      this.#answer = answer
      socket.setTimeout(bodyTimeout ?? 0)
      answer.on('error', (error) => this.fail(error))
      answer.on('data', (chunk: Buffer) => this.#guard(() => this.#handler.onResponseData?.(this, chunk)))
      answer.once('end', () => this.#finish(answer.rawTrailers))
      this.#begin(answer.statusCode ?? 0, answer.rawHeaders, answer.statusMessage ?? '')
    })
  }

  #sendBody(outgoing: ClientRequest): void {
    const { body, trailers } = this.#options
    if (!(body instanceof Readable)) return void outgoing.end()
    // Node.js would wait for the first byte of the body.
    outgoing.flushHeaders()
    const end = (): void => {
      this.#guard(() => outgoing.addTrailers(pairsOf(trailers.read())))
      if (!this.aborted) outgoing.end()
    }
    sendBody(body, outgoing, { sent: (chunk) => this.#handler.onBodySent?.(chunk), end })
  }

  #begin(status: number, rawHeaders: string[], message: string): void {
    this.rawHeaders = rawHeaders
    this.#guard(() => this.#handler.onResponseStart?.(this, status, {}, message))
  }

  #finish(rawTrailers: string[]): void {
    if (this.#ended) return
    this.rawTrailers = rawTrailers
    this.#end()
    this.#guard(() => this.#handler.onResponseEnd?.(this, {}))
  }

  /** Ends the connection. Nobody reads the rest of the body, unless nothing was sent yet. */
  #end(): void {
    this.#ended = true
    if (!this.#outgoing) return
    this.#outgoing.destroy()
    if (this.#options.body instanceof Readable) this.#options.body.destroy()
  }

  /** A handler that throws ends its request, and no other. */
  #guard(work: () => void): void {
    if (this.aborted) return
    try {
      work()
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)))
    }
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
