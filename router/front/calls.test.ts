import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, createServer } from 'node:http2'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { http2From } from '../../test/support/http2-client.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { beds, portOf, testBed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const host = 'outside.invalid'

test('calls of two clients over HTTP/2 are never mixed up, and their answers have trailers', { skip }, async (t) => {
  beds.haproxy = haproxy
  const bed = await testBed(t, { tlsPort: 0 })
  const app = createServer()
  app.on('stream', (stream, headers) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-answered': 'yes' }))
    stream.resume().once('end', () => stream.end(String(headers['x-forwarded-for'])))
  })
  app.listen(0, '127.0.0.1')
  await once(app, 'listening')
  t.after(async () => void app.close())
  const tls = { from: 'platform', redirects: true } as const
  await bed.lead([portOf(app)], { host, tls, speaksHttp2: true })
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const ask = async (client: ClientHttp2Session) => {
    const headers = { ':method': 'POST', ':path': '/', ':authority': host, 'content-type': 'application/grpc' }
    const stream = client.request({ ...headers, te: 'trailers', 'x-forwarded-for': '9.9.9.9' })
    const trailers = once(stream, 'trailers')
    stream.end('body')
    const body = await text(stream)
    return [body, (await trailers)[0]['x-answered']]
  }
  const addresses = ['127.0.0.2', '127.0.0.3']
  const clients = await Promise.all(
    addresses.map((address) => http2From(t, { host, port: bed.router.tlsPort ?? 0, localAddress: address })),
  )
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(clients.map(ask))
    assert.deepEqual(
      answers,
      addresses.map((address) => [address, 'yes']),
    )
  }
})
