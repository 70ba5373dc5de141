import type { Dispatcher } from 'undici'
import { answerFailure } from './answer-failure.ts'
import type { Answering } from './answering.ts'
import { chooseAnswering } from './choose-answering.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import type { CompressedAnswering } from './compressed-answering.ts'
import type { Endpoint } from './endpoint.ts'
import type { Failure } from './pages.ts'
import { responseHeaders } from './response-head.ts'
import { readableBy, ruledHeaders } from './rules.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'

type RawHeaders = Parameters<typeof responseHeaders>[0]

/** The start of a response, as its endpoint sent it. */
interface Begun {
  readonly status: number
  readonly statusMessage: string
  readonly raw: RawHeaders
  readonly endpoint: Endpoint | undefined
}

/**
 * The answer that a client gets to a request: the response of an endpoint under the rules of the
 * route, or a page of the router. `target` is the one whose rules accepted the request.
 */
export class ClientAnswer {
  readonly #traffic: Traffic
  readonly #request: ClientRequest
  readonly #response: ClientResponse
  readonly #target: Target | undefined
  #answering: Answering | CompressedAnswering | undefined

  constructor(traffic: Traffic, request: ClientRequest, response: ClientResponse, target: Target | undefined) {
    this.#traffic = traffic
    this.#request = request
    this.#response = response
    this.#target = target
  }

  /** Whether a response of an endpoint has begun. */
  get hasBegun(): boolean {
    return this.#answering !== undefined
  }

  /** Forwards early hints (RFC 8297) to clients that read them. */
  hint(raw: RawHeaders): void {
    if (!this.#response.writeHints) return
    const headers = responseHeaders(raw)
    if (headers) this.#response.writeHints(headers)
  }

  /** Begins the response of an endpoint. Throws if the coding of its body is unknown. */
  begin({ status, statusMessage, raw, endpoint }: Begun): void {
    const headers = responseHeaders(raw)
    if (!headers) throw new Error('unknown transfer coding in the response')
    if (this.#traffic.leaving) this.#response.shouldKeepAlive = false
    const { answering, headers: sent } = chooseAnswering({
      ...{ request: this.#request, response: this.#response, status, headers: this.#ruled(headers, endpoint) },
      stallMs: this.#target?.rules?.given.clientTimeoutMs,
      compressing: this.#compressing,
    })
    this.#answering = answering
    answering.begin(status, statusMessage, sent)
  }

  write(...[chunk, controller]: Parameters<Answering['write']>): void {
    this.#answering?.write(chunk, controller)
  }

  addTrailers(trailers: Dispatcher.DispatchController['rawTrailers']): void {
    this.#answering?.addTrailers(trailers)
  }

  end(): void {
    this.#answering?.end()
  }

  /** Breaks off a response that has begun. */
  cut(): void {
    this.#response.destroy()
  }

  /** Answers with a page of the router. */
  fail(failure: Failure, hasBody: boolean): void {
    const page = readableBy(failure, this.#target?.rules, this.#request.headers.origin)
    answerFailure(this.#request, this.#response, page, { hasBody })
  }

  get #compressing() {
    const { rules, route } = this.#target ?? {}
    const { compressors } = this.#traffic
    return route && rules?.given.compression ? { route, compressors } : undefined
  }

  #ruled(headers: string[], endpoint: Endpoint | undefined): string[] {
    const { rules, place } = this.#target ?? {}
    if (!rules || rules.keepsHeaders) return headers
    return ruledHeaders(rules, headers, {
      asked: this.#request.headers,
      endpoint: endpoint?.id,
      path: place?.path ?? '/',
    })
  }
}
