import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { answerFailure } from './answer-failure.ts'
import { after, monotonic } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { type EndpointFailure, failureOf, failureOfEndpoint } from './endpoint-failure.ts'
import { BodyTooLarge, limitedBody } from './limited-body.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import type { RequestHead } from './request-head.ts'
import { responseHeaders, trailerPairs } from './response-head.ts'
import { isSafeMethod, retryDelay } from './retry.ts'
import type { Target } from './routes.ts'
import { type Rules, ruledHeaders, stickyIn, tooLarge } from './rules.ts'
import type { Traffic } from './traffic.ts'

/** Up to this size a body is joined with its headers as text, which costs one copy and saves a system call. */
const wholeBytes = 16 * 1024

/** How one request is passed on. */
interface Passing {
  readonly head: RequestHead
  /** The name in the table that the request is for. */
  readonly host: string
  readonly awaitsContinue: boolean
  readonly rules: Rules | undefined
}

/**
 * One request on its way: sent to an endpoint, again where that is harmless, and its answer streamed back. It is itself the
 * handler of the dispatch, so that a request needs few objects. Nothing here throws into the caller.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #traffic: Traffic
  readonly #host: string
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #options: Dispatcher.DispatchOptions
  readonly #safe: boolean
  readonly #startedAt = monotonic()
  readonly #rules: Rules | undefined
  #awaitsContinue: boolean
  #endpoint: Endpoint | undefined
  #controller: Dispatcher.DispatchController | undefined
  #tries = 0
  #sent = false
  #answered = false
  #flushed = false
  #held: Buffer | undefined
  #ended = false
  #clientGone = false

  constructor(
    traffic: Traffic,
    request: IncomingMessage,
    response: ServerResponse,
    { head, host, awaitsContinue, rules }: Passing,
  ) {
    this.#traffic = traffic
    this.#host = host
    this.#request = request
    this.#response = response
    this.#awaitsContinue = awaitsContinue
    const method = request.method ?? 'GET'
    this.#safe = !head.hasBody && isSafeMethod(method)
    head.forwarded.push('host', head.host ?? host)
    const options = { method, path: request.url ?? '/', headers: head.forwarded, body: head.hasBody ? request : null }
    this.#rules = rules
    this.#options = rules ? ruledOptions(rules, options) : options
    response.on('close', () => this.#onClientClosed())
    traffic.counts.open++
  }

  /** Sends the request; also called for each further try, by the table that is in effect then. */
  send(target: Target | undefined): void {
    if (this.#clientGone) {
      this.#end()
      return
    }
    const failure = failureOf(target, this.#host)
    if (!target || failure) {
      this.#fail(failure)
      return
    }
    const sticky = this.#rules?.given.sticky ? stickyIn(this.#request.headers.cookie) : undefined
    const endpoint = this.#traffic.routes.choose(target, sticky)
    if (!endpoint) {
      const message = `${target.route.name} has too many open requests. Try again in a moment.`
      this.#fail({ status: 503, message, retryAfterSeconds: 1 })
      return
    }
    this.#tries++
    this.#sent = false
    this.#controller = undefined
    this.#endpoint = endpoint
    endpoint.hold()
    endpoint.dispatch(this.#options, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#clientGone) {
      controller.abort(new Error('the client went away'))
      return
    }
    this.#sent = true
    if (this.#awaitsContinue) this.#response.writeContinue()
    this.#awaitsContinue = false
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    if (status < 200) return
    const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : []
    const headers = responseHeaders(raw)
    if (!headers) throw new Error('the transfer coding of the answer is not known')
    this.#answered = true
    if (this.#endpoint) this.#endpoint.asideUntil = 0
    if (this.#traffic.closing) this.#response.shouldKeepAlive = false
    this.#response.writeHead(status, statusMessage ?? '', this.#rules ? this.#ruled(this.#rules, headers) : headers)
    process.nextTick(flush, this)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#flushed && !this.#held) {
      this.#held = chunk
      return
    }
    const held = this.#held
    this.#held = undefined
    if (held) this.#response.write(held)
    this.#flushed = true
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    const trailers = controller.rawTrailers
    if (Array.isArray(trailers) && trailers.length > 0) this.#response.addTrailers(trailerPairs(trailers))
    this.#release()
    this.#end()
    const held = this.#held
    this.#held = undefined
    if (!held) this.#response.end()
    else if (held.length > wholeBytes) this.#response.end(held)
    else this.#response.end(held.toString('latin1'), 'latin1')
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const endpoint = this.#endpoint
    this.#release()
    if (this.#ended || this.#clientGone) {
      this.#end()
      return
    }
    const { final, page } = failureOfEndpoint(error)
    if (!this.#sent && !final && endpoint) endpoint.asideUntil = monotonic() + limits.asideMs
    const delay = retryDelay({
      tries: this.#tries,
      elapsedMs: monotonic() - this.#startedAt,
      sent: this.#sent,
      answered: this.#answered,
      safe: this.#safe,
      final,
    })
    if (delay !== undefined) {
      this.#traffic.counts.retries++
      after(delay, () => this.send(this.#traffic.routes.find(this.#host)))
      return
    }
    this.#giveUp(error, endpoint, page)
  }

  /**
   * What came in one read goes out in one write: the first chunk is held until the read was worked off. Streams show their
   * headers before their first byte of body.
   */
  flush(): void {
    if (this.#flushed || this.#ended || this.#clientGone) return
    this.#flushed = true
    const held = this.#held
    this.#held = undefined
    if (held) this.#response.write(held)
    else this.#response.flushHeaders()
  }

  #giveUp(error: Error, endpoint: Endpoint | undefined, page: EndpointFailure['page']): void {
    const name = this.#traffic.routes.find(this.#host)?.route.name ?? this.#host
    const fields = { host: this.#host, endpoint: endpoint?.label, error: describe(error), sent: this.#sent }
    this.#traffic.log.warn('request failed at its endpoint', { ...fields, tries: this.#tries })
    const most = this.#rules?.given.maxBodyBytes
    if (error instanceof BodyTooLarge && most !== undefined) this.#fail(tooLarge(name, most))
    else this.#fail({ status: page.status, message: `${name} ${page.predicate}` })
  }

  #ruled(rules: Rules, headers: readonly string[]): string[] {
    const { origin, cookie: cookies } = this.#request.headers
    const own = rules.given.sticky ? this.#endpoint?.id : undefined
    return ruledHeaders(rules, headers, { origin, cookie: own === stickyIn(cookies) ? undefined : own })
  }

  #fail(failure: Parameters<typeof answerFailure>[2] | undefined): void {
    if (this.#ended) return
    this.#end()
    this.#traffic.counts.failed++
    if (failure) answerFailure(this.#request, this.#response, failure, { hasBody: this.#options.body != null })
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#traffic.counts.open--
  }

  #release(): void {
    this.#endpoint?.release()
    this.#endpoint = undefined
  }

  #onClientClosed(): void {
    if (this.#ended) return
    this.#clientGone = true
    this.#controller?.abort(new Error('the client went away'))
  }
}

/** With the limits that the rules have. */
function ruledOptions({ given }: Rules, options: Dispatcher.DispatchOptions): Dispatcher.DispatchOptions {
  const { maxBodyBytes, readTimeoutMs } = given
  const { body } = options
  return {
    ...options,
    ...(readTimeoutMs === undefined ? {} : { headersTimeout: readTimeoutMs, bodyTimeout: readTimeoutMs }),
    ...(maxBodyBytes !== undefined && body instanceof Readable ? { body: limitedBody(body, maxBodyBytes) } : {}),
  }
}

const flush = (exchange: Exchange): void => exchange.flush()
