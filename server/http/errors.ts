import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { databaseErrorToAppError } from '../database/index.ts'
import { AppError, type ErrorCode, errorCodes } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'

/** The body of every error. */
export interface ErrorReply {
  readonly status: number
  readonly error: string
  readonly message: string
  readonly detail: string
}

export const errorReply = (code: ErrorCode, message: string): ErrorReply => ({
  ...errorCodes[code],
  message,
  detail: message,
})

/** Fastify's own errors, by their codes. */
const transport: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['tooLarge', 'The body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupportedMediaType', 'The body must be sent as application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'The length of the body differs from Content-Length.'],
  FST_ERR_MAX_PARAM_LENGTH: ['notFound', 'The object does not exist.'],
  FST_ERR_BAD_URL: ['notFound', 'The object does not exist.'],
}

/**
 * Answers a thrown error: expected errors as they are, all others as 500 with the cause in the log.
 */
export const errorHandler =
  (log: Logger) =>
  (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const expected = expectedError(error)
    if (!expected) {
      log.error({ err: error, requestId: request.id }, 'a request failed')
      const message = `Something went wrong on our side. See request ${request.id} in the log.`
      return reply.code(500).send({ status: 500, error: 'Internal Server Error', message, detail: message })
    }
    const { status } = errorCodes[expected.code]
    if (status === 401 && !reply.hasHeader('www-authenticate')) reply.header('www-authenticate', 'Bearer')
    if (expected.retryAfterSeconds !== undefined) reply.header('retry-after', expected.retryAfterSeconds)
    if (status === 503) log.warn({ err: error, requestId: request.id }, 'a request could not be served')
    if (status === 413 || status === 408) reply.header('connection', 'close')
    return reply.code(status).send(errorReply(expected.code, expected.message))
  }

/** Returns an expected error; undefined for a bug. */
export function expectedError(error: FastifyError | Error): AppError | undefined {
  if (error instanceof AppError) return error
  const [code, message] = ('code' in error ? transport[error.code] : undefined) ?? []
  if (code && message) return new AppError(code, message, { cause: error })
  return databaseErrorToAppError(error)
}
