import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import type { RequestLine } from './access-lines.ts'
import { answerFailure } from './answer-failure.ts'
import type { Answering } from './answering.ts'
import { beginTry, type CanaryTry } from './canary-try.ts'
import { chooseAnswering } from './choose-answering.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { after, monotonic } from './clock.ts'
import type { CompressedAnswering } from './compressed-answering.ts'
import { DeadlineOver, RetriedAnswer } from './deadlines.ts'
import type { Endpoint } from './endpoint.ts'
import { type EndpointFailure, failureOf, failureOfEndpoint, movedAway } from './endpoint-failure.ts'
import { ExchangeRecord } from './exchange-record.ts'
import { BodyTooLarge } from './limited-body.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import { requestBody, skipBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'
import { announcedTrailers, type DispatchOptions } from './request-trailers.ts'
import { responseHeaders } from './response-head.ts'
import { type Failure as Failed, isRetriedStatus, isSafeMethod, retryDelay } from './retry.ts'
import { type Rules, readableBy, ruledHeaders, stickyIn, tooLarge } from './rules.ts'
import { headBytes } from './service-counts.ts'
import { StreamBroken } from './stream-broken.ts'
import { seenTarget, type Target } from './target.ts'
import type { Traffic } from './traffic.ts'

/** The details of a request that the exchange needs. */
interface Passing {
  readonly head: RequestHead
  /** The host name of the request, as the table has it. */
  readonly host: string
  readonly awaitsContinue: boolean
  readonly target: Target | undefined
  /** Undefined if the service wants no lines. */
  readonly line?: RequestLine | undefined
}

/**
 * One request on its way to an endpoint. It is retried, if that is safe, until a response begins.
 * The class is itself the handler of the dispatch, so that a request needs few objects. `send`
 * never throws.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #traffic: Traffic
  readonly #host: string
  readonly #request: ClientRequest
  /** Node.js takes it from a request whose body it destroys. */
  readonly #socket: ClientRequest['socket']
  readonly #response: ClientResponse
  #options: DispatchOptions
  /** The service whose rules accepted the request. `#path` is the path of its route. */
  readonly #service: string | undefined
  readonly #path: string
  readonly #safe: boolean
  readonly #record: ExchangeRecord
  readonly #rules: Rules | undefined
  #awaitsContinue: boolean
  #endpoint: Endpoint | undefined
  /** Undefined unless the endpoint belongs to a new version that is being tried out. */
  #trial: CanaryTry | undefined
  #controller: Dispatcher.DispatchController | undefined
  #tries = 0
  #sent = false
  #answering: Answering | CompressedAnswering | undefined
  #ended = false
  #clientGone = false
  /** Why the current try ends, or must end as soon as it has a connection. */
  #overdue: DeadlineOver | undefined
  /** Bytes of the request's body that were sent. */
  #bodySent = 0
  #cancelTry: (() => void) | undefined
  #cancelWhole: (() => void) | undefined
  #cancelSending: (() => void) | undefined

  constructor(
    traffic: Traffic,
    request: ClientRequest,
    response: ClientResponse,
    { head, host, awaitsContinue, target, line }: Passing,
  ) {
    this.#traffic = traffic
    this.#host = host
    this.#request = request
    this.#socket = request.socket
    this.#response = response
    this.#awaitsContinue = awaitsContinue
    const method = request.method ?? 'GET'
    this.#safe = !head.hasBody && isSafeMethod(method)
    head.forwarded.push('host', head.host ?? host)
    const rules = target?.rules
    this.#rules = rules
    const silenceMs = rules?.given.readTimeoutMs ?? null
    this.#options = {
      method,
      path: request.url ?? '/',
      headers: head.forwarded,
      body: head.hasBody ? this.#bodyOf(request) : null,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      trailers: head.hasBody ? announcedTrailers(request, head.forwarded) : undefined,
    }
    this.#service = target?.route.service
    this.#path = target?.place.path ?? '/'
    this.#record = new ExchangeRecord(traffic.services, this.#service, line)
    this.#record.addSent(headBytes(request.rawHeaders) + this.#options.path.length)
    response.on('close', () => this.#onClientClosed())
    traffic.counts.open++
    const wholeMs = rules?.given.requestTimeoutMs
    if (wholeMs !== undefined) this.#cancelWhole = after(wholeMs, () => this.#endLate(wholeMs))
  }

  /** Sends the request. Each retry calls it too, with the target of the current table. */
  send(target: Target | undefined): void {
    if (this.#clientGone || this.#ended) {
      this.#end()
      return
    }
    const isMoved = target !== undefined && target.route.service !== this.#service
    const failure = isMoved ? movedAway(this.#host) : failureOf(target, this.#host)
    if (!target || failure) {
      this.#fail(failure)
      return
    }
    const sticky = this.#rules?.given.sticky ? stickyIn(this.#request.headers.cookie) : undefined
    const endpoint = this.#traffic.routes.choose(target, sticky, this.#tries > 0)
    if (!endpoint) {
      const message = `${target.route.name} has too many open requests. Try again in a moment.`
      this.#fail({ status: 503, message, retryAfterSeconds: 1 })
      return
    }
    if (target.byPath) this.#readdress(target)
    this.#tries++
    this.#sent = false
    this.#controller = undefined
    this.#endpoint = endpoint
    endpoint.hold()
    this.#trial = beginTry(endpoint)
    const tryMs = this.#rules?.given.retry?.perTryMs
    if (tryMs !== undefined) this.#cancelTry = after(tryMs, () => this.#abort(new DeadlineOver('TRY_TIMEOUT', tryMs)))
    endpoint.dispatch(this.#options, this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#clientGone) {
      controller.abort(new Error('the client disconnected'))
      return
    }
    const over = this.#overdue ?? (this.#ended ? new DeadlineOver('REQUEST_TIMEOUT', 0) : undefined)
    if (over) {
      controller.abort(over)
      return
    }
    this.#sent = true
    if (this.#awaitsContinue) this.#response.writeContinue()
    this.#awaitsContinue = false
  }

  onBodySent(chunk: Buffer): void {
    this.#bodySent += chunk.length
    this.#trial?.sent()
    this.#record.addSent(chunk.length)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    if (status < 200) {
      this.#hint(controller, status)
      return
    }
    this.#cancelTry?.()
    this.#trial?.begun()
    if (this.#retries(status)) {
      controller.abort(new RetriedAnswer(status))
      return
    }
    const raw = Array.isArray(controller.rawHeaders) ? controller.rawHeaders : []
    this.#record.begin(status, raw)
    const headers = responseHeaders(raw)
    if (!headers) throw new Error('unknown transfer coding in the response')
    if (this.#endpoint) this.#endpoint.asideUntil = 0
    if (this.#traffic.leaving) this.#response.shouldKeepAlive = false
    const rules = this.#rules
    const ruled = rules && !rules.keepsHeaders ? this.#ruled(rules, headers) : headers
    const { answering, headers: sent } = chooseAnswering({
      ...{ request: this.#request, response: this.#response, status, headers: ruled },
      stallMs: rules?.given.clientTimeoutMs,
      compressing: this.#compressing,
    })
    this.#answering = answering
    answering.begin(status, statusMessage ?? '', sent)
  }

  get #compressing() {
    const [service, { compressors }] = [this.#service, this.#traffic]
    return service !== undefined && this.#rules?.given.compression ? { service, compressors } : undefined
  }

  /** Forwards early hints (RFC 8297) to clients that read them. */
  #hint({ rawHeaders }: Dispatcher.DispatchController, status: number): void {
    if (status !== 103 || !this.#response.writeHints || !Array.isArray(rawHeaders)) return
    const headers = responseHeaders(rawHeaders)
    if (headers) this.#response.writeHints(headers)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#record.addReceived(chunk.length)
    this.#answering?.write(chunk, controller)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#answering?.addTrailers(controller.rawTrailers)
    this.#trial?.ended(this.#record.status, controller)
    this.#release()
    this.#end(true)
    this.#answering?.end()
    skipBody(this.#request)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const [endpoint, trial] = [this.#endpoint, this.#trial]
    this.#release()
    this.#cancelTry?.()
    this.#overdue = undefined
    if (this.#ended || this.#clientGone) {
      this.#end()
      return
    }
    const { final, page } = failureOfEndpoint(error)
    if (trial && !this.#isAtFault(error, page)) trial.broken(error)
    if (!this.#sent && !final && endpoint) endpoint.asideUntil = monotonic() + limits.asideMs
    const delay = this.#delayAfter({
      sent: this.#sent && !isUnprocessed(error),
      answered: this.#answering !== undefined,
      final,
      status: statusOf(error),
    })
    if (delay !== undefined) {
      this.#traffic.counts.retries++
      after(delay, () => this.send(this.#traffic.routes.find(this.#host, this.#request.url)))
      return
    }
    this.#giveUp(error, endpoint, page)
  }

  /** Whether the request or its client, and not the endpoint, is the reason of a failed try. */
  #isAtFault(error: Error, { status }: EndpointFailure['page']): boolean {
    return status === 400 || status === 431 || error instanceof BodyTooLarge || this.#socket.destroyed
  }

  /** Updates the path: a newer table may rewrite it differently. */
  #readdress(target: Target): void {
    const path = seenTarget(target, this.#request.url ?? '/')
    if (path !== this.#options.path) this.#options = { ...this.#options, path }
  }

  #bodyOf(request: ClientRequest): Readable {
    const { body, cancel } = requestBody(request, this.#rules?.given ?? {}, {
      accepted: () => this.#bodySent,
      late: (over) => this.#abort(over),
    })
    this.#cancelSending = cancel
    return body
  }

  #delayAfter(failure: Pick<Failed, 'sent' | 'answered' | 'final' | 'status'>): number | undefined {
    const { elapsedMs } = this.#record
    return retryDelay({ ...failure, tries: this.#tries, elapsedMs, safe: this.#safe }, this.#rules?.given.retry)
  }

  /** Returns whether a response of this status is dropped and its request retried. */
  #retries(status: number): boolean {
    const rule = this.#rules?.given.retry
    if (!rule || !isRetriedStatus(status, rule)) return false
    return this.#delayAfter({ sent: true, answered: false, final: false, status }) !== undefined
  }

  #abort(reason: DeadlineOver): void {
    this.#overdue = reason
    this.#controller?.abort(reason)
  }

  /** Ends a request that exceeded its total time. A response that has begun is cut off. */
  #endLate(wholeMs: number): void {
    if (this.#ended || this.#clientGone) return
    const name = this.#traffic.routes.find(this.#host, this.#request.url)?.route.name ?? this.#host
    if (!this.#answering && this.#request.complete) this.#trial?.failed()
    if (this.#answering) this.#response.destroy()
    else this.#fail({ status: 504, message: `${name} did not answer within ${wholeMs / 1000} s.` })
    this.#controller?.abort(new DeadlineOver('REQUEST_TIMEOUT', wholeMs))
  }

  #giveUp(error: Error, endpoint: Endpoint | undefined, page: EndpointFailure['page']): void {
    const name = this.#traffic.routes.find(this.#host, this.#request.url)?.route.name ?? this.#host
    const fields = { host: this.#host, endpoint: endpoint?.label, error: describe(error), sent: this.#sent }
    this.#traffic.log.warn('request failed at its endpoint', { ...fields, tries: this.#tries })
    const most = this.#rules?.given.maxBodyBytes
    if (error instanceof BodyTooLarge && most !== undefined) this.#fail(tooLarge(name, most))
    else this.#fail({ status: page.status, message: `${name} ${page.predicate}` })
  }

  #ruled(rules: Rules, headers: readonly string[]): string[] {
    const { origin, cookie: cookies } = this.#request.headers
    const own = rules.given.sticky ? this.#endpoint?.id : undefined
    return ruledHeaders(rules, headers, {
      origin,
      cookie: own === stickyIn(cookies) ? undefined : own,
      path: this.#path,
    })
  }

  #fail(failure: Parameters<typeof answerFailure>[2] | undefined): void {
    if (this.#ended) return
    this.#record.status ||= failure?.status ?? 502
    this.#end()
    this.#traffic.counts.failed++
    if (!failure) return
    const page = readableBy(failure, this.#rules, this.#request.headers.origin)
    answerFailure(this.#request, this.#response, page, { hasBody: this.#options.body != null })
  }

  #end(isWhole = false): void {
    if (this.#ended) return
    this.#ended = true
    this.#record.end(isWhole)
    this.#cancelTry?.()
    this.#cancelWhole?.()
    this.#cancelSending?.()
    this.#traffic.counts.open--
  }

  #release(): void {
    this.#endpoint?.release()
    this.#endpoint = undefined
    this.#trial = undefined
  }

  #onClientClosed(): void {
    if (this.#ended) return
    this.#clientGone = true
    this.#controller?.abort(new Error('the client disconnected'))
  }
}

const isUnprocessed = (error: Error): boolean => error instanceof StreamBroken && error.isRefused

const statusOf = (error: Error): number | undefined => (error instanceof RetriedAnswer ? error.status : undefined)
