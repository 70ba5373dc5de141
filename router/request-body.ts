import { PassThrough, type Readable } from 'node:stream'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { bodyOf, type ClientRequest } from './client-message.ts'
import { DeadlineOver, watchSending } from './deadlines.ts'
import { limitedBody } from './limited-body.ts'

/** A body of this size arrives with its headers, or soon after. */
const wholeBodyBytes = 16 * 1024

/** How a body is sent to an endpoint. */
export interface Sending {
  /** Returns the bytes that the endpoint has accepted. */
  accepted(): number
  /** Called if it accepts nothing for too long. */
  late(over: DeadlineOver): void
}

/**
 * Returns the body of a request as its endpoint receives it, within the limits of the rules, and a
 * function that ends the watch over its time.
 */
export function requestBody(
  request: ClientRequest,
  { maxBodyBytes, sendTimeoutMs: limitMs }: Pick<RouteRules, 'maxBodyBytes' | 'sendTimeoutMs'>,
  { accepted, late }: Sending,
): { readonly body: Readable; readonly cancel: (() => void) | undefined } {
  // A declared length was checked before, and the parser holds the body to it.
  const isLimited = maxBodyBytes !== undefined && request.headers['content-length'] === undefined
  const own = bodyOf(request)
  // The dispatcher destroys a body that its endpoint does not want. A request of HTTP/1.1 must
  // survive that, because its connection may carry others.
  const isShared = request.body === undefined && !(Number(request.headers['content-length']) <= wholeBodyBytes)
  const sent = isShared && !isLimited ? own.pipe(new PassThrough()) : own
  const body = isLimited ? limitedBody(sent, maxBodyBytes) : sent
  if (limitMs === undefined) return { body, cancel: undefined }
  return {
    body,
    cancel: watchSending({ body, accepted, limitMs }, () => late(new DeadlineOver('SEND_TIMEOUT', limitMs))),
  }
}

/**
 * Reads the rest of a body that the endpoint did not want. Otherwise the next request of the
 * connection would wait behind it.
 */
export function skipBody(request: ClientRequest): void {
  if (request.body === undefined && !request.complete) setImmediate(() => bodyOf(request).resume())
}
