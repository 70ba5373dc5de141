/**
 * The closed list of expected failures. Everything that is not an AppError is a bug: it is answered with 500 and a general
 * sentence, and logged with its causes.
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
  /** The master key is missing or wrong: what needs plaintext of a secret cannot be done. */
  sealed: { status: 503, error: 'Service Unavailable' },
  unavailable: { status: 503, error: 'Service Unavailable' },
} as const

export type ErrorCode = keyof typeof errorCodes

export class AppError extends Error {
  readonly code: ErrorCode
  /** For the operator's log only, never for the answer. */
  readonly details: Readonly<Record<string, unknown>> | undefined

  /** `message` is shown to the caller: what happened, where, and what to do. */
  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: Record<string, unknown> } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
  }
}

/** Ends a `switch` over a union: does not compile when a member was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}

/** The message of whatever was thrown. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
