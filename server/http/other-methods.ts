import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError, notFound } from '../lib/error.ts'

/** The methods of all routes. Others are answered before the request is read. */
const served: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

interface Route {
  readonly method: string
  readonly pattern: RegExp
}

/**
 * Answers requests without a route: 405 with `Allow` if the path has routes for other methods,
 * otherwise 404. Must be called before the first route, because it collects them. A method that no
 * route has is rejected in `onRequest`: Fastify reads the body of some, such as QUERY, before it
 * looks for a route.
 */
export function answerOtherMethods(app: FastifyInstance): void {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const pattern = patternOf(url)
    for (const one of [method].flat()) if (one !== 'HEAD') routes.push({ method: one, pattern })
  })
  const refusal = ({ method, url }: FastifyRequest): { readonly allow: string; readonly error: AppError } => {
    const path = url.split('?')[0] ?? ''
    const allow = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map((route) => route.method))].join(
      ', ',
    )
    const error =
      allow === ''
        ? notFound('operation', undefined, { advice: '/openapi.json lists all of them.' })
        : new AppError('methodNotAllowed', `${method} is not allowed here; use ${allow}.`)
    return { allow, error }
  }
  app.setNotFoundHandler((request, reply) => {
    const { allow, error } = refusal(request)
    if (allow !== '') void reply.header('allow', allow)
    throw error
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (served.has(request.method)) return done()
    const { allow, error } = refusal(request)
    if (allow !== '') void reply.header('allow', allow)
    done(error)
  })
}

/** Converts `/a/:id/*` to an expression: a parameter is one segment, a star is the rest. */
const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .split('/')
      .map((segment) =>
        segment.startsWith(':') ? '[^/]+' : segment.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace('*', '.*'),
      )
      .join('/')}$`,
  )
