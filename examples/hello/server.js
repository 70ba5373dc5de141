import { createServer } from 'node:http'

const port = Number(process.env.PORT ?? 8080)
const message = process.env.MESSAGE ?? 'Hello from Quayside'
const version = process.env.VERSION ?? 'unknown'

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text) => text.replace(/[&<>"']/g, (character) => escapes[character])

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(message)}</title>
<style>
  :root { color-scheme: light dark; }
  body { display: grid; place-content: center; min-height: 100vh; margin: 0; text-align: center;
         font: 1.1rem/1.6 system-ui, sans-serif; }
  h1 { margin: 0; font-size: 2.4rem; }
  code { padding: 0.1em 0.4em; border-radius: 0.3em; background: #8883; }
</style>
</head>
<body>
<h1>${escaped(message)}</h1>
<p>This page was built from a git repository and is served by version <code>${escaped(version)}</code>.</p>
<p>Change the variable <code>MESSAGE</code>, deploy again, and reload.</p>
</body>
</html>
`

const answers = {
  '/': { type: 'text/html; charset=utf-8', body: page },
  '/json': { type: 'application/json; charset=utf-8', body: JSON.stringify({ message, version }) },
  '/health': { type: 'text/plain; charset=utf-8', body: 'ok\n' },
}
const notFound = { type: 'text/plain; charset=utf-8', body: 'There is nothing here.\n' }

const server = createServer((request, response) => {
  const path = request.url.split('?')[0]
  const known = Object.hasOwn(answers, path)
  const { type, body } = known ? answers[path] : notFound
  response.on('finish', () => console.log(`${request.method} ${path} ${response.statusCode}`))
  response.writeHead(known ? 200 : 404, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
})

server.listen(port, () => console.log(`listening on port ${port}, version ${version}`))

// Proxies and browsers open connections ahead of requests. Node.js does not close those that are
// still silent, so they would keep the program from ending.
const silent = new Set()
server.on('connection', (socket) => {
  silent.add(socket)
  socket.once('close', () => silent.delete(socket))
})
server.on('request', (request) => silent.delete(request.socket))
function closeSilent() {
  for (const socket of silent) socket.destroy()
}

// Finishes open requests and closes idle connections.
process.on('SIGTERM', () => {
  console.log('SIGTERM: closing')
  server.close(() => process.exit(0))
  server.closeIdleConnections()
  setTimeout(closeSilent, 1_000)
})
