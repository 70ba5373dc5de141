import { isUtf8 } from 'node:buffer'
import { type Operation, requiredMembers } from '@quayside/contract/operation.ts'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../lib/error.ts'
import { parseStrictJson } from '../lib/strict-json.ts'
import { bodyValidator } from './validate.ts'

/** Returns the validated body of a request; undefined if the operation declares none. */
export type ReadBody = (request: Pick<FastifyRequest, 'body'>) => unknown

/**
 * Creates the reader of an operation's body. An absent body counts as `{}`, so that the error names
 * the required member. `null` counts as absent if no member is required: the Go client sends it if
 * no body is set. An operation without a body accepts these three and any other object, whose
 * members are dropped like other unknown members. Everything else is a 400.
 */
export function bodyReader({ body }: Pick<Operation, 'body'>): ReadBody {
  if (!body) return refuseOtherBody
  const validate = bodyValidator(body)
  if (body.type === 'string') return (request) => validate(readText(request.body))
  const isOptional = requiredMembers(body).length === 0
  return (request) => {
    const value = readJson(request.body)
    return validate(value === null && isOptional ? {} : value)
  }
}

const readJson = (bytes: unknown): unknown => (Buffer.isBuffer(bytes) && bytes.length > 0 ? parseStrictJson(bytes) : {})

function refuseOtherBody(request: Pick<FastifyRequest, 'body'>): undefined {
  const value = readJson(request.body)
  if (typeof value === 'object' && !Array.isArray(value)) return
  throw new AppError('invalid', 'This operation takes no body. Send none, or an empty object.')
}

function readText(bytes: unknown): string {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) throw new AppError('invalid', 'The body must not be empty.')
  if (!isUtf8(bytes)) throw new AppError('invalid', 'The body is not valid UTF-8.')
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}
