import { noId } from './id.ts'

/**
 * The closed list of expected failures. Any other error is a bug: the response is 500 with a
 * general message, and the log has its causes.
 */
export const errorCodes = {
  invalid: { status: 400, error: 'Bad Request' },
  unauthorized: { status: 401, error: 'Unauthorized' },
  forbidden: { status: 403, error: 'Forbidden' },
  notFound: { status: 404, error: 'Not Found' },
  methodNotAllowed: { status: 405, error: 'Method Not Allowed' },
  requestTimeout: { status: 408, error: 'Request Timeout' },
  conflict: { status: 409, error: 'Conflict' },
  preconditionFailed: { status: 412, error: 'Precondition Failed' },
  tooLarge: { status: 413, error: 'Payload Too Large' },
  uriTooLong: { status: 414, error: 'URI Too Long' },
  unsupportedMediaType: { status: 415, error: 'Unsupported Media Type' },
  misdirected: { status: 421, error: 'Misdirected Request' },
  tooManyRequests: { status: 429, error: 'Too Many Requests' },
  headersTooLarge: { status: 431, error: 'Request Header Fields Too Large' },
  /** The master key is missing or wrong, so secrets cannot be opened. */
  sealed: { status: 503, error: 'Service Unavailable' },
  unavailable: { status: 503, error: 'Service Unavailable' },
} as const

export type ErrorCode = keyof typeof errorCodes

export class AppError extends Error {
  readonly code: ErrorCode
  /** For the operator's log only, never for the response. */
  readonly details: Readonly<Record<string, unknown>> | undefined
  /**
   * After how many seconds a caller may try again, for `Retry-After`. Undefined unless the error is
   * 429 or 503.
   */
  readonly retryAfterSeconds: number | undefined

  /** `message` is shown to the caller: what happened, where, and what to do. */
  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    const isTemporary = [429, 503].includes(errorCodes[code].status)
    this.retryAfterSeconds = isTemporary ? Math.max(1, options.retryAfterSeconds ?? 1) : undefined
  }
}

interface AppErrorOptions {
  readonly cause?: unknown
  readonly details?: Record<string, unknown>
  /** A whole number. Default 1. */
  readonly retryAfterSeconds?: number
}

/** Creates the error of a budget that is free again after so many seconds. */
export function budgetSpent(resetSeconds: number): AppError {
  const retryAfterSeconds = Math.max(1, resetSeconds)
  const message = `Too many requests; try again in ${retryAfterSeconds} s.`
  return new AppError('tooManyRequests', message, { retryAfterSeconds })
}

/**
 * Creates the error for a missing object: `The environment 0b2f… does not exist.` An object that
 * the caller must not see gets the same message. `field` is the field of the request that names it.
 */
export function notFound(
  noun: string,
  id?: string,
  { field, advice }: { readonly field?: string; readonly advice?: string } = {},
): AppError {
  const object = id === undefined || id === noId ? noun : `${noun} ${id}`
  const message = `${field === undefined ? 'The' : `${field}: the`} ${object} does not exist.`
  return new AppError('notFound', advice === undefined ? message : `${message} ${advice}`)
}

/** Ends a `switch` over a union: does not compile if a member is missing. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** Returns the message of any thrown value. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
