import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { AppError } from '../lib/error.ts'
import type { Secret } from '../lib/secret.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Budgets } from './budgets.ts'
import { authorizationOf, setRateHeaders } from './credential-headers.ts'

export interface MetricsRouteOptions {
  readonly budgets: Budgets
  readonly metrics: {
    readonly secret: Secret
    readonly figures: Pick<Metrics, 'all'>
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Mounts `GET /metrics` for the operator, with the token of the data directory. Tokens of the API
 * do not open it: it shows every organization.
 */
export function mountMetrics(
  app: FastifyInstance,
  { budgets, metrics: { secret, figures } }: MetricsRouteOptions,
): void {
  const expected = digest(`Bearer ${secret.reveal()}`)
  app.get('/metrics', async (request, reply) => {
    setRateHeaders(reply, budgets.take(undefined, request.raw))
    if (!timingSafeEqual(digest(authorizationOf(request) ?? ''), expected)) {
      const message =
        'The figures of the platform need the token in the file metrics-token of the data directory: ' +
        'Authorization: Bearer <token>. Organizations read /organization/{organizationId}/metrics.'
      throw new AppError('unauthorized', message)
    }
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await figures.all())
  })
}
