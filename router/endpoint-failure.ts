import { DeadlineOver, RetriedAnswer } from './deadlines.ts'
import { codeOf } from './log.ts'
import type { Failure } from './pages.ts'
import type { Target } from './target.ts'

export interface EndpointFailure {
  /** A retry would fail the same way, or wait as long again. */
  readonly final: boolean
  /** The error page for the client. The predicate follows the service's name. */
  readonly page: { readonly status: 400 | 431 | 502 | 504; readonly predicate: string }
}

const unreadable = { status: 502, predicate: 'sent an answer that is not valid HTTP.' } as const
const unreachable = { status: 502, predicate: 'does not answer: no running instance could be reached.' } as const

/** Classifies an error of the connection to an endpoint. */
export function failureOfEndpoint(error: Error): EndpointFailure {
  if (error instanceof RetriedAnswer) return { final: false, page: unreadable }
  if (error instanceof DeadlineOver) {
    // Only a slow try may be retried.
    return { final: error.code !== 'TRY_TIMEOUT', page: { status: 504, predicate: 'did not answer in time.' } }
  }
  const code = codeOf(error) ?? ''
  if (code === 'UND_ERR_HEADERS_TIMEOUT') {
    return { final: true, page: { status: 504, predicate: 'did not answer in time.' } }
  }
  if (code === 'TRAILERS_TOO_LARGE') {
    return {
      final: true,
      page: { status: 431, predicate: 'was not asked: the trailers of the request are too large.' },
    }
  }
  if (
    code === 'UND_ERR_INVALID_ARG' ||
    code === 'UND_ERR_NOT_SUPPORTED' ||
    code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'
  ) {
    return { final: true, page: { status: 400, predicate: 'was not asked: the request is malformed.' } }
  }
  if (
    code.startsWith('HPE_') ||
    code === 'INVALID_HTTP2' ||
    code === 'UND_ERR_HEADERS_OVERFLOW' ||
    code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'
  ) {
    return { final: true, page: unreadable }
  }
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE') {
    return { final: false, page: { status: 502, predicate: 'ended the connection before it answered.' } }
  }
  return code === '' ? { final: true, page: unreadable } : { final: false, page: unreachable }
}

/**
 * The answer to a request that the rules of one service let through, if it would now reach another
 * service.
 */
export const movedAway = (host: string): Failure => ({
  status: 503,
  message: `This request now belongs to another service of ${host}. Send it again.`,
  retryAfterSeconds: 1,
})

/**
 * Returns the error for a request that no endpoint can take. Undefined if the target has an
 * endpoint.
 */
export function failureOf(target: Target | undefined, host: string): Failure | undefined {
  if (!target) {
    const message = `No application answers at ${host}. Check the address, or add this domain to a service.`
    return { status: 404, message }
  }
  if (target.endpoints.length > 0 || target.trial) return undefined
  const { name, reason } = target.route
  return {
    status: 503,
    message: `${name} is not available: ${reason || 'it has no running instance'}.`,
    retryAfterSeconds: 5,
  }
}
