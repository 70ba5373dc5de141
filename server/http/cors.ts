import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE'
const allowedHeaders = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-State-Dialect'
const exposedHeaders =
  'ETag, Idempotency-Replayed, Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id'
/** How long a browser caches the answer to a preflight request. */
const maxAgeSeconds = 600

/**
 * Lets pages of these origins use the API from a browser. Requests authenticate with their token;
 * cookies are not used. Other origins get no CORS headers, so browsers withhold the reply from
 * them. A preflight (`OPTIONS` with `Access-Control-Request-Method`) is answered without a
 * credential, for any address.
 */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  const allowed = new Set(origins)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !allowed.has(origin)) return done()
    reply.header('access-control-allow-origin', origin).header('access-control-expose-headers', exposedHeaders)
    // Replies are readable by the allowed origin that requested them.
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
