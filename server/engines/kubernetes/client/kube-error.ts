import { AddressError } from '../../../lib/address.ts'
import { messageOf } from '../../../lib/error.ts'
import { parseForeign } from '../../../lib/foreign-json.ts'
import { plain } from './plain.ts'

/** An answer of an API server that is an error, or no answer. `message` can be shown to users. */
export class KubeError extends Error {
  /** The status of HTTP; 0 if there was no answer. */
  readonly status: number
  /**
   * Kubernetes' own word, such as `NotFound`, `Conflict` or `Expired`; `Unreachable` without an
   * answer, `Cut` if it ended early.
   */
  readonly reason: string
  /** The server asks to wait this long before the next try. */
  readonly retryAfterMs: number

  constructor(
    status: number,
    reason: string,
    message: string,
    { retryAfterMs = 0, ...options }: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(plain(message), options)
    this.name = 'KubeError'
    this.status = status
    this.reason = plain(reason)
    this.retryAfterMs = retryAfterMs
  }
}

/** Whether the error is one of these answers, by its status or Kubernetes' own word. */
export const isKubeError = (
  error: unknown,
  ...answers: readonly [number | string, ...(number | string)[]]
): error is KubeError =>
  error instanceof KubeError && (answers.includes(error.status) || answers.includes(error.reason))

/**
 * Whether a later try may succeed: there was no answer, the server is busy, or it no longer knows
 * the version with which a list or a watch began.
 */
export const isPassing = (error: unknown): boolean =>
  isKubeError(error, 0, 410, 429, 500, 502, 503, 504) && !isKubeError(error, 'Refused', 'Certificate')

/**
 * Returns the error of an answer whose body is a `Status` object, or any text. `retryAfter` is its
 * header.
 */
export function errorOfAnswer(status: number, body: string, retryAfter?: string): KubeError {
  const said = parseStatus(body)
  const message = said?.message ?? (body.slice(0, 500).trim() || 'no reason')
  const retryAfterMs = pauseOf(retryAfter)
  return new KubeError(status, said?.reason ?? `Status${status}`, withoutEnd(message), { retryAfterMs })
}

const longestPauseSeconds = 60

/** API servers send whole seconds. */
function pauseOf(retryAfter: string | undefined): number {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return Math.min(seconds, longestPauseSeconds) * 1000
}

function parseStatus(body: string): { message?: string; reason?: string } | undefined {
  try {
    const { kind, message, reason } = Object(parseForeign(Buffer.from(body)))
    if (kind !== 'Status') return undefined
    return {
      ...(typeof message === 'string' && message !== '' && { message }),
      ...(typeof reason === 'string' && reason !== '' && { reason }),
    }
  } catch {
    return undefined
  }
}

const certificateCodes = /CERT|TLS|SSL|SELF_SIGNED|ISSUER|VERIFY|EPROTO/

/**
 * Returns the error of a request that got no answer from `server`: `Unreachable`, or `Cut` without
 * a name of the server, if the answer had begun.
 */
export function errorOfConnection(server: string, cause: unknown): KubeError {
  if (cause instanceof KubeError) return cause
  const { code } = cause instanceof Error && 'code' in cause ? cause : { code: undefined }
  // Messages may repeat what the server sent.
  const why = String(code ?? messageOf(cause))
  const isCertificate = code !== undefined && certificateCodes.test(why)
  const fail = (reason: string, message: string) => new KubeError(0, reason, message, { cause })
  if (cause instanceof AddressError) {
    return fail(cause.reason === 'refused' ? 'Refused' : 'Unreachable', withoutEnd(cause.message))
  }
  if (isCertificate) {
    return fail(
      'Certificate',
      `the certificate of ${server}, or that of the kubeconfig, is not accepted (${why}); send a new kubeconfig`,
    )
  }
  if (server === '') return fail('Cut', `the connection to the API server broke (${why})`)
  return fail('Unreachable', `the API server ${server} cannot be reached (${why})`)
}

const withoutEnd = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text)
