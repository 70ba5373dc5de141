import type { Dispatcher } from 'undici'
import type { RequestLine } from './access-lines.ts'
import { beginTry, type CanaryTry } from './canary-try.ts'
import { ClientAnswer } from './client-answer.ts'
import type { ClientRequest, ClientResponse } from './client-message.ts'
import { after, monotonic } from './clock.ts'
import { DeadlineOver, RetriedAnswer } from './deadlines.ts'
import type { Endpoint } from './endpoint.ts'
import { type EndpointFailure, failureOf, failureOfEndpoint, movedAway } from './endpoint-failure.ts'
import { ExchangeRecord } from './exchange-record.ts'
import { ExchangeRequest } from './exchange-request.ts'
import { BodyTooLarge } from './limited-body.ts'
import { limits } from './limits.ts'
import { describe } from './log.ts'
import type { Failure } from './pages.ts'
import { skipBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'
import { type Failure as Failed, isRetriedStatus, retryDelay } from './retry.ts'
import { type Rules, stickyIn, tooLarge } from './rules.ts'
import { headBytes } from './service-counts.ts'
import { StreamBroken } from './stream-broken.ts'
import type { Target } from './target.ts'
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
  readonly #sending: ExchangeRequest
  readonly #answer: ClientAnswer
  /** The service whose rules accepted the request. */
  readonly #service: string | undefined
  readonly #record: ExchangeRecord
  readonly #rules: Rules | undefined
  #awaitsContinue: boolean
  #endpoint: Endpoint | undefined
  /** Undefined unless the endpoint belongs to a new version that is being tried out. */
  #trial: CanaryTry | undefined
  #controller: Dispatcher.DispatchController | undefined
  #tries = 0
  #sent = false
  #ended = false
  #clientGone = false
  /** Why the current try ends, or must end as soon as it has a connection. */
  #overdue: DeadlineOver | undefined
  #cancelTry: (() => void) | undefined
  #cancelWhole: (() => void) | undefined

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
    head.forwarded.push('host', head.host ?? host)
    const rules = target?.rules
    this.#rules = rules
    this.#sending = new ExchangeRequest(request, head, rules, (over) => this.#abort(over))
    this.#answer = new ClientAnswer(traffic, request, response, target)
    this.#service = target?.route.service
    this.#record = new ExchangeRecord(traffic.services, this.#service, line)
    this.#record.addSent(headBytes(request.rawHeaders) + this.#sending.options.path.length)
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
    this.#sending.readdress(target)
    this.#tries++
    this.#sent = false
    this.#controller = undefined
    this.#endpoint = endpoint
    endpoint.hold()
    this.#trial = beginTry(endpoint)
    const tryMs = this.#rules?.given.retry?.perTryMs
    if (tryMs !== undefined) this.#cancelTry = after(tryMs, () => this.#abort(new DeadlineOver('TRY_TIMEOUT', tryMs)))
    endpoint.dispatch(this.#sending.options, this)
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
    this.#sending.addSent(chunk.length)
    this.#trial?.sent()
    this.#record.addSent(chunk.length)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage = '',
  ): void {
    if (status < 200) {
      if (status === 103 && Array.isArray(controller.rawHeaders)) this.#answer.hint(controller.rawHeaders)
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
    const endpoint = this.#endpoint
    this.#answer.begin({ status, statusMessage, raw, endpoint })
    if (endpoint) endpoint.asideUntil = 0
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#record.addReceived(chunk.length)
    this.#answer.write(chunk, controller)
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.#answer.addTrailers(controller.rawTrailers)
    this.#trial?.ended(this.#record.status, controller)
    this.#release()
    this.#end(true)
    this.#answer.end()
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
      answered: this.#answer.hasBegun,
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

  #delayAfter(failure: Pick<Failed, 'sent' | 'answered' | 'final' | 'status'>): number | undefined {
    const { elapsedMs } = this.#record
    return retryDelay(
      { ...failure, tries: this.#tries, elapsedMs, safe: this.#sending.isSafe },
      this.#rules?.given.retry,
    )
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
    if (!this.#answer.hasBegun && this.#request.complete) this.#trial?.failed()
    if (this.#answer.hasBegun) this.#answer.cut()
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

  #fail(failure: Failure | undefined): void {
    if (this.#ended) return
    this.#record.status ||= failure?.status ?? 502
    this.#end()
    this.#traffic.counts.failed++
    if (failure) this.#answer.fail(failure, this.#sending.hasBody)
  }

  #end(isWhole = false): void {
    if (this.#ended) return
    this.#ended = true
    this.#record.end(isWhole)
    this.#cancelTry?.()
    this.#cancelWhole?.()
    this.#sending.end()
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
