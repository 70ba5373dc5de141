import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer, connect as open, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { askPlain, secureClient } from '../support/https.ts'
import { selfSigned } from '../support/self-signed.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// Clients reach the router through a mapping of ports, or through a proxy that ends HTTPS.

/** Forwards connections from a port to another one, like a mapping of ports. */
async function mapPort(t: TestContext, from: number, to: () => number): Promise<void> {
  const server = createServer((client) => {
    const inner = open(to(), '127.0.0.1')
    client.on('error', () => inner.destroy())
    inner.on('error', () => client.destroy())
    client.pipe(inner).pipe(client)
  })
  await listen(t, server, from)
}

async function listen(t: TestContext, server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => void server.close())
}

/** Returns the link of the example from the API. */
async function linkOf(server: ServerProcess): Promise<string> {
  const [row] = await server.sql<{ id: string }[]>`select id from service where kind = 'application' limit 1`
  const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${row?.id}/link`)
  return results[0]?.url ?? ''
}

const isPrinted = (server: ServerProcess, url: string): boolean => server.output.some((line) => line.includes(url))

test('links, redirects and the printed address have the ports of a mapping', { timeout: 180_000 }, async (t) => {
  const [port, tlsPort, ownTlsPort] = [await findFreePort(), await findFreePort(), await findFreePort()]
  const server = await startServer({
    env: {
      QUAYSIDE_ACME_DIRECTORY: 'local',
      QUAYSIDE_ROUTER_TLS_PORT: String(ownTlsPort),
      QUAYSIDE_ROUTER_PUBLIC_PORT: String(port),
      QUAYSIDE_ROUTER_PUBLIC_TLS_PORT: String(tlsPort),
    },
  })
  t.after(() => server.close())
  await mapPort(t, port, () => server.routerPort)
  await mapPort(t, tlsPort, () => ownTlsPort)
  const url = new URL(
    await until('the link is secure', async () => {
      const link = await linkOf(server)
      return link.startsWith('https:') ? link : undefined
    }),
  )
  assert.equal(url.port, String(tlsPort))
  assert.ok(isPrinted(server, url.origin), server.output.join('\n'))
  assert.ok(isPrinted(server, `https://quayside.localhost:${tlsPort}`))
  const client = secureClient({
    port: tlsPort,
    root: await readFile(join(server.dataDirectory, 'authority.pem'), 'utf8'),
  })
  t.after(() => client.close())
  const status = async () => (await client.ask(url.hostname, { path: '/' }).catch(() => undefined))?.status
  await until('the example answers through the mapping', async () => (await status()) === 200)
  const plain = await askPlain(port, url.hostname, '/a')
  assert.deepEqual([plain.status, plain.headers['location']], [308, `${url.origin}/a`])
})

test('links are https behind a proxy that ends HTTPS', { timeout: 180_000 }, async (t) => {
  const tlsPort = await findFreePort()
  const server = await startServer({
    env: { QUAYSIDE_TRUSTED_PROXIES: '127.0.0.1', QUAYSIDE_ROUTER_PUBLIC_TLS_PORT: String(tlsPort) },
  })
  t.after(() => server.close())
  const proxy = createSecureServer({ cert: selfSigned.cert, key: selfSigned.key }, (incoming, response) => {
    const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', 'x-forwarded-port': String(tlsPort) }
    const { method, url: path } = incoming
    const outgoing = request({ host: '127.0.0.1', port: server.routerPort, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  })
  await listen(t, proxy, tlsPort)
  const url = new URL(await linkOf(server))
  assert.deepEqual([url.protocol, url.port], ['https:', String(tlsPort)])
  assert.ok(isPrinted(server, url.origin), server.output.join('\n'))
  const client = secureClient({ port: tlsPort, root: selfSigned.cert })
  t.after(() => client.close())
  // The certificate of the proxy has another name.
  const options = { path: '/', rejectUnauthorized: false }
  const status = async () => (await client.ask(url.hostname, options).catch(() => undefined))?.status
  await until('the example answers through the proxy', async () => (await status()) === 200)
})
