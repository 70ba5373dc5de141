import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { selfSigned } from '../../test/support/self-signed.ts'
import { createAddressGuard } from './address.ts'
import { createSafeFetch, type SafeRequest } from './safe-fetch.ts'
import { createOpenStream } from './safe-stream.ts'

const wanted: SafeRequest = { timeoutMs: 5_000, maxResponseBytes: 1_000, signal: new AbortController().signal }

async function listen(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // A TCP server's address is never a path.
  return (server.address() as AddressInfo).port
}

const inside = (names: Record<string, readonly string[]> = {}) =>
  createSafeFetch(
    createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'], resolve: async (name) => names[name] ?? [] }),
  )

test('connects to the checked address under the original name', async (t) => {
  const port = await listen(t, (request, response) => {
    response.setHeader('x-seen', `${request.method} ${request.headers.host} ${request.headers['x-mine']}`)
    request.pipe(response)
  })
  const answer = await inside({ 'hook.example': ['127.0.0.1'] })(`http://hook.example:${port}/a?b=c`, {
    ...wanted,
    method: 'POST',
    headers: { 'x-mine': 'yes', Host: 'evil.example' },
    body: 'payload',
  })
  assert.equal(answer.headers['x-seen'], `POST hook.example:${port} yes`)
  assert.equal(answer.body.toString(), 'payload')
  assert.equal(answer.truncated, false)
})

test('safeFetch does not connect to a private address', async (t) => {
  let connections = 0
  const port = await listen(t, (_request, response) => {
    connections++
    response.end()
  })
  const guard = createAddressGuard({ allowedPrivateCidrs: [], resolve: async () => ['127.0.0.1'] })
  for (const host of ['127.0.0.1', 'localhost', 'rebound.example', '[::ffff:127.0.0.1]', '0x7f.1']) {
    await assert.rejects(createSafeFetch(guard)(`https://${host}:${port}/`, wanted), { reason: 'address' })
    await assert.rejects(createSafeFetch(guard)(`http://${host}:${port}/`, { ...wanted, allowHttp: true }), {
      reason: 'address',
    })
  }
  assert.equal(connections, 0)
})

test('safeFetch returns a redirect and does not follow it', async (t) => {
  let hits = 0
  const port = await listen(t, (_request, response) => {
    hits++
    response.writeHead(307, { location: '/again' }).end()
  })
  assert.equal((await inside()(`http://127.0.0.1:${port}/`, wanted)).status, 307)
  assert.equal(hits, 1)
})

test('safeFetch cuts off an endless body and keeps the status', async (t) => {
  const port = await listen(t, (_request, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(4_096))) {}
    }
    response.on('drain', more)
    more()
  })
  const answer = await inside()(`http://127.0.0.1:${port}/`, wanted)
  assert.deepEqual([answer.status, answer.body.length, answer.truncated], [200, 1_000, true])
})

test('safeFetch cuts off a slow body at the timeout', async (t) => {
  const port = await listen(t, (_request, response) => response.writeHead(200).write('a'))
  const answer = await inside()(`http://127.0.0.1:${port}/`, { ...wanted, timeoutMs: 1000 })
  assert.deepEqual([answer.status, answer.body.toString(), answer.truncated], [200, 'a', true])
})

test('safeFetch times out when the server does not answer', async (t) => {
  const port = await listen(t, () => {})
  await assert.rejects(inside()(`http://127.0.0.1:${port}/`, { ...wanted, timeoutMs: 150 }), { reason: 'timeout' })
})

test('headers beyond 16 kB are refused', async (t) => {
  const port = await listen(t, (_request, response) => response.writeHead(200, { 'x-long': 'a'.repeat(17_000) }).end())
  await assert.rejects(inside()(`http://127.0.0.1:${port}/`, wanted), { reason: 'unreachable' })
})

test('a compressed body stays compressed', async (t) => {
  const bomb = gzipSync(Buffer.alloc(100_000))
  const port = await listen(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  )
  assert.deepEqual((await inside()(`http://127.0.0.1:${port}/`, wanted)).body, bomb)
})

test('safeFetch rejects a server without TLS at an https address', async (t) => {
  const port = await listen(t, (_request, response) => response.end())
  await assert.rejects(inside()(`https://127.0.0.1:${port}/`, wanted), { reason: 'tls' })
})

test('safeFetch rejects line breaks in headers and invalid addresses', async () => {
  await assert.rejects(inside()('not an address', wanted), { reason: 'address' })
  await assert.rejects(inside()('http://127.0.0.1:9/', { ...wanted, headers: { a: 'b\r\nc: d' } }), {
    reason: 'request',
  })
})

test('safeFetch throws the reason of the caller when aborted', async (t) => {
  const caller = new AbortController()
  const port = await listen(t, () => caller.abort(new Error('enough')))
  await assert.rejects(inside()(`http://127.0.0.1:${port}/`, { ...wanted, signal: caller.signal }), /enough/)
})

test('a certificate is accepted from the authorities that are given, and from no others', async (t) => {
  const server = createHttpsServer(selfSigned, (_request, response) => void response.end('x')).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'], resolve: async () => ['127.0.0.1'] })
  const open = createOpenStream(guard)
  const url = new URL(`https://outside.invalid:${port}/`)
  const limits = { headersTimeoutMs: 5000, bodyTimeoutMs: 5000, signal: AbortSignal.timeout(10_000) }
  await assert.rejects(open(url, limits), { reason: 'tls' })
  await using answer = await open(url, { ...limits, authorities: [selfSigned.cert] })
  assert.equal(answer.status, 200)
})
