import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, budgetSpent } from '../lib/error.ts'
import { countHeader } from './count-header.ts'
import type { Verdict } from './rate-limit.ts'

/** Returns the Authorization header. Throws 400 for two: choosing one would be a guess. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  if (countHeader(request.raw.rawHeaders, 'authorization') > 1) {
    throw new AppError('invalid', 'The Authorization header must be sent once.')
  }
  return request.headers.authorization
}

/** Sets the headers of the rate limit, unless requests are not limited. Throws 429 beyond it. */
export function setRateHeaders(reply: FastifyReply, verdict: Verdict): void {
  if (verdict.limit === 0) return
  reply.header('x-ratelimit-limit', verdict.limit)
  reply.header('x-ratelimit-remaining', verdict.remaining)
  reply.header('x-ratelimit-reset', verdict.resetSeconds)
  if (verdict.allowed) return
  reply.header('x-ratelimit-reset', Math.max(1, verdict.resetSeconds))
  throw budgetSpent(verdict.resetSeconds)
}
