import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** The beginnings of the console's addresses. No operation of the API has one of them. */
export const consolePaths = ['/', '/organizations/*', '/login/auth0-callback'] as const

/** Allows scripts, styles and requests of this server alone, and no frame. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** The name of a file has a digest of its content. */
const forEver = 'public, max-age=31536000, immutable'
const acceptsBrotli = ({ headers }: FastifyRequest): boolean =>
  /(?:^|,) ?br(?:$|,)/.test(String(headers['accept-encoding'] ?? ''))

/** Mounts the console from its built files. `directory` may be built while the server runs. */
export function mountConsole(app: FastifyInstance, directory: string): void {
  const assets = join(directory, 'assets')
  let known: Promise<ReadonlySet<string>> | undefined
  const names = (): Promise<ReadonlySet<string>> => {
    known ??= readdir(assets).then(
      (files) => new Set(files),
      () => new Set(),
    )
    return known
  }

  for (const path of consolePaths) {
    app.get(path, async (_request, reply) => {
      // A newer build has other files.
      known = undefined
      const page = await readFile(join(directory, 'index.html'), 'utf8').catch(() => undefined)
      if (page === undefined) return notBuilt(reply)
      reply.header('content-security-policy', policy).header('cache-control', 'no-cache')
      // A page that opens the console has no handle on its window.
      reply.header('cross-origin-opener-policy', 'same-origin')
      return reply.type('text/html; charset=utf-8').send(page)
    })
  }
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params
    const type = types[extname(name)]
    const files = await names()
    if (type === undefined || !files.has(name)) return reply.callNotFound()
    const isSmall = acceptsBrotli(request) && files.has(`${name}.br`)
    reply.header('cache-control', forEver).header('vary', 'accept-encoding').type(type)
    if (isSmall) reply.header('content-encoding', 'br')
    return reply.send(await readFile(join(assets, isSmall ? `${name}.br` : name)))
  })
}

const notBuilt = (reply: FastifyReply): FastifyReply =>
  reply
    .code(503)
    .header('retry-after', '1')
    .header('refresh', '1')
    .type('text/plain; charset=utf-8')
    .send('The console is being built. This page loads again by itself.\n')
