import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import test from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { http2From } from '../../test/support/http2-client.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { beds, portOf, testBed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const host = 'outside.invalid'
const perClient = 20

function ask(client: ClientHttp2Session, path: string): { stream: ClientHttp2Stream; status: Promise<number> } {
  const stream = client.request({ ':authority': host, ':path': path })
  const { promise, resolve } = Promise.withResolvers<number>()
  stream.on('response', (headers) => resolve(Number(headers[':status']))).on('error', () => resolve(0))
  stream.resume()
  return { stream, status: promise }
}

for (const kind of ['that HAProxy carries', 'that the router carries']) {
  test(`the streams of one client share its limit, for requests ${kind}`, { skip }, async (t) => {
    beds.haproxy = haproxy
    const bed = await testBed(t, { tlsPort: 0, connections: { ...usualConnections, perClient } })
    const waiting: ServerResponse[] = []
    const app = await bed.application((request, response) => {
      if (request.url === '/wait') waiting.push(response)
      else response.end('answered')
    })
    const tls = { from: 'platform', redirects: true } as const
    const rules = kind === 'that the router carries' ? { sticky: true } : undefined
    await bed.lead([portOf(app)], { host, tls, ...(rules && { rules }) })
    const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
    await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
    const port = bed.router.tlsPort ?? 0
    const [first, second] = [
      await http2From(t, { host, port, localAddress: '127.0.0.2' }),
      await http2From(t, { host, port, localAddress: '127.0.0.2' }),
    ]
    const asked = Array.from({ length: 60 }, (_, index) => ask(index % 2 ? first : second, '/wait'))
    let refused = 0
    for (const { status } of asked) void status.then((one) => (one === 429 ? refused++ : 0))
    const told = new Set<unknown>()
    for (const { stream } of asked) {
      stream.on('response', (headers) => told.add([headers['retry-after'], headers['content-type']].join(' ')))
    }
    await until('the others are refused', () => refused === 60 - perClient)
    assert.deepEqual([...told], ['1 application/json; charset=utf-8'])
    await until('its requests have arrived', () => waiting.length === perClient)
    const other = await http2From(t, { host, port, localAddress: '127.0.0.3' })
    assert.equal(await ask(other, '/').status, 200)
    for (const { stream } of asked) stream.close()
    await until('its share is free', async () => (await ask(first, '/').status) === 200)
  })
}

for (const program of [undefined, haproxy]) {
  const title = `a client beyond its limit of connections is disconnected ${program ? 'by HAProxy' : 'by the router'}`
  test(title, { skip: program ? skip : false }, async (t) => {
    beds.haproxy = program
    const bed = await testBed(t, { connections: { ...usualConnections, perClient } })
    const app = await bed.application((_, response) => response.end('answered'))
    await bed.lead([portOf(app)])
    const head = 'GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n'
    const open = (localAddress: string): Socket => {
      const socket = connect({ host: '127.0.0.1', port: bed.router.port, localAddress })
      t.after(async () => void socket.destroy())
      socket.on('error', () => {}).write(head)
      return socket
    }
    const first = Array.from({ length: perClient }, () => open('127.0.0.2'))
    for (const socket of first) await once(socket, 'data')
    const refused = open('127.0.0.2')
    let received = 0
    refused.on('data', () => received++)
    await new Promise((resolve) => refused.once('close', resolve))
    assert.equal(received, 0)
    await once(open('127.0.0.3'), 'data')
    for (const socket of first) assert.ok(!socket.destroyed)
  })
}
