import type { Operation } from '@quayside/contract'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../lib/error.ts'
import type { RequestKey } from './kept-replies.ts'
import type { AnyCall } from './reply.ts'

const form = /^[\x21-\x7e]{1,255}$/

/**
 * Reads the Idempotency-Key of a POST together with the content that identifies the request.
 * Undefined without the header.
 */
export function readKey(
  { method, path }: Operation,
  request: FastifyRequest,
  { caller, body }: AnyCall,
): RequestKey | undefined {
  const key = request.headers['idempotency-key']
  if (method !== 'POST' || key === undefined) return undefined
  if (typeof key !== 'string' || !form.test(key)) {
    throw new AppError('invalid', 'Idempotency-Key must have 1 to 255 visible ASCII characters, without spaces.')
  }
  return { caller: caller.id, key, request: `${method} ${path}\n${request.url}\n${JSON.stringify(body) ?? ''}` }
}
