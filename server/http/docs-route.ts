import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openApi } from '@quayside/contract/openapi.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'

/** The page. It loads nothing from other servers. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quayside API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/viewer.css">
</head>
<body>
<div id="viewer"></div>
<noscript>This page needs JavaScript; the document is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<script src="/docs/viewer.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`
const start = `SwaggerUIBundle({ url: '/docs/openapi.json', dom_id: '#viewer', deepLinking: true, docExpansion: 'none', filter: true,
  showExtensions: true,
  tryItOutEnabled: false, validatorUrl: null, supportedSubmitMethods: ['get', 'post', 'put', 'delete'] })
`
/** The viewer creates inline styles and data images, and sends requests only to this server. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const cacheable = 'public, max-age=3600'

/**
 * Mounts `/docs`: a page to read and try the API, made with a viewer that is shipped with the
 * server. Its document lists WebSockets among the paths.
 */
export function mountDocs(app: FastifyInstance, version: string): void {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const send = (reply: FastifyReply, type: string, body: string | Buffer): FastifyReply =>
    reply.header('content-security-policy', policy).type(`${type}; charset=utf-8`).send(body)
  const file = (url: string, type: string, name: string): void => {
    app.get(url, async (_request, reply) => {
      reply.header('cache-control', cacheable)
      return send(reply, type, await readFile(join(folder, name)))
    })
  }
  app.get('/docs', async (_request, reply) => send(reply, 'text/html', page))
  // Large and rarely requested: created on first use.
  let document: string | undefined
  app.get('/docs/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApi(version, { socketsAmongPaths: true }))
    return reply.type('application/json; charset=utf-8').send(document)
  })
  app.get('/docs/start.js', async (_request, reply) => send(reply, 'text/javascript', start))
  file('/docs/viewer.js', 'text/javascript', 'swagger-ui-bundle.js')
  file('/docs/viewer.css', 'text/css', 'swagger-ui.css')
}
