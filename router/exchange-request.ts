import type { Readable } from 'node:stream'
import type { ClientRequest } from './client-message.ts'
import type { DeadlineOver } from './deadlines.ts'
import { requestBody } from './request-body.ts'
import type { RequestHead } from './request-head.ts'
import { announcedTrailers, type DispatchOptions } from './request-trailers.ts'
import { isSafeMethod } from './retry.ts'
import type { Rules } from './rules.ts'
import { seenTarget, type Target } from './target.ts'

/** A request of a client as its endpoints get it. */
export class ExchangeRequest {
  /** Whether it may be sent twice. */
  readonly isSafe: boolean
  readonly #request: ClientRequest
  #options: DispatchOptions
  /** Bytes of the body that the endpoint has accepted. */
  #bodySent = 0
  #cancelSending: (() => void) | undefined

  /** `late` is called if an endpoint accepts nothing of the body for too long. */
  constructor(
    request: ClientRequest,
    { forwarded, hasBody }: RequestHead,
    rules: Rules | undefined,
    late: (over: DeadlineOver) => void,
  ) {
    this.#request = request
    const method = request.method ?? 'GET'
    this.isSafe = !hasBody && isSafeMethod(method)
    const silenceMs = rules?.given.readTimeoutMs ?? null
    this.#options = {
      method,
      path: request.url ?? '/',
      headers: forwarded,
      body: hasBody ? this.#bodyOf(rules, late) : null,
      headersTimeout: silenceMs,
      bodyTimeout: silenceMs,
      trailers: hasBody ? announcedTrailers(request, forwarded) : undefined,
    }
  }

  get options(): DispatchOptions {
    return this.#options
  }

  get hasBody(): boolean {
    return this.#options.body != null
  }

  /** Updates the path: a newer table may rewrite it differently. */
  readdress(target: Target): void {
    if (!target.byPath) return
    const path = seenTarget(target, this.#request.url ?? '/')
    if (path !== this.#options.path) this.#options = { ...this.#options, path }
  }

  /** Notes bytes of the body that the endpoint has accepted. */
  addSent(bytes: number): void {
    this.#bodySent += bytes
  }

  /** Ends the watch over the time of the body. */
  end(): void {
    this.#cancelSending?.()
  }

  #bodyOf(rules: Rules | undefined, late: (over: DeadlineOver) => void): Readable {
    const { body, cancel } = requestBody(this.#request, rules?.given ?? {}, { accepted: () => this.#bodySent, late })
    this.#cancelSending = cancel
    return body
  }
}
