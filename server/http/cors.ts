import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE'
const allowedHeaders = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-State-Dialect'
const exposedHeaders =
  'ETag, Idempotency-Replayed, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id'
/** How long a browser remembers the answer to its question. */
const maxAgeSeconds = 600

/**
 * Lets pages of these origins use the API from a browser, each as whoever the token of its request
 * is: cookies are not used. Of other origins nothing is said, so that browsers keep the answer from
 * them. A browser's question before a request (`OPTIONS` with `Access-Control-Request-Method`) is
 * answered without a credential, for any address.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders)
    // Answered pages may be read by the origin that asked for them.
    reply.header('cross-origin-resource-policy', 'cross-origin')
    if (!isQuestion(request)) return done()
    void answerQuestion(reply)
  })
}

const isQuestion = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

const answerQuestion = (reply: FastifyReply): FastifyReply =>
  reply
    .code(204)
    .header('access-control-allow-methods', allowedMethods)
    .header('access-control-allow-headers', allowedHeaders)
    .header('access-control-max-age', maxAgeSeconds)
    .send()
