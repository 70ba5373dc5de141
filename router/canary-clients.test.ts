import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { block, flags, frame, preface, types } from '../test/support/http2-frames.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

// A client must not be able to fail a new version by what it does itself.

const host = 'outside.invalid'

interface Trial extends TestBed {
  /** The number of requests that reached the new version. */
  reached(): number
  counts(): Promise<unknown>
}

/** A router with a new version that gets every request, and reads bodies before it answers. */
async function trial(t: TestContext, rules: RouteRules = {}): Promise<Trial> {
  const bed = await testBed(t, { tlsPort: 0 })
  let reached = 0
  const next = await bed.application((request, response) => {
    reached++
    request.resume().once('end', () => response.end('read'))
    request.once('error', () => {})
  })
  const previous = await bed.application((_request, response) => response.end('previous'))
  const canary = { release: 'next', percent: 100, endpoints: [{ address: '127.0.0.1', port: portOf(next) }] }
  await bed.lead([portOf(previous)], { host, canary, rules, tls: { from: 'platform', redirects: false } })
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
  const counts = async () => {
    await until('nothing is open', async () => Object((await bed.tell('GET', '/health')).body['counts']).open === 0)
    const { body } = await bed.tell('GET', '/canaries')
    const [{ requests, failed }] = Object(body['canaries'])
    return { requests, failed }
  }
  return { ...bed, reached: () => reached, counts }
}

const head = `POST / HTTP/1.1\r\nHost: ${host}\r\n`

test('a client of HTTP/2 that resets its request within the body is not counted', async (t) => {
  const bed = await trial(t)
  // Node.js would end the body before it resets the stream, so frames are written by hand.
  const options = { servername: host, rejectUnauthorized: false, ALPNProtocols: ['h2'] }
  const socket = connect({ host: '127.0.0.1', port: Number(bed.router.tlsPort), ...options })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.resume().write(Buffer.concat([preface, frame({ type: types.settings })]))
  const fields = block(Object.entries({ ':method': 'POST', ':scheme': 'https', ':path': '/', ':authority': host }))
  for (const [stream, code] of [
    [1, constants.NGHTTP2_CANCEL] as const,
    [3, constants.NGHTTP2_INTERNAL_ERROR] as const,
  ]) {
    const before = bed.reached()
    socket.write(frame({ type: types.headers, flags: flags.endHeaders, stream, payload: fields }))
    socket.write(frame({ type: types.data, stream, payload: Buffer.from('half') }))
    await until('the new version has the request', () => bed.reached() > before)
    socket.write(frame({ type: types.reset, stream, payload: Buffer.from([0, 0, 0, code]) }))
  }
  assert.deepEqual(await bed.counts(), { requests: 0, failed: 0 })
})

test('a body that becomes malformed is not counted', async (t) => {
  const bed = await trial(t)
  const socket = bed.raw(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`)
  await until('the new version has the request', () => bed.reached() === 1)
  socket.write('no number\r\n\r\n')
  await untilClosed(socket)
  assert.deepEqual(await bed.counts(), { requests: 0, failed: 0 })
})

test('a body that is larger than the limit is not counted', async (t) => {
  const bed = await trial(t, { maxBodyBytes: 10 })
  const socket = bed.raw(`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`)
  await until('the new version has the request', () => bed.reached() === 1)
  socket.write('8\r\ntoo much\r\n0\r\n\r\n')
  assert.match(await untilClosed(socket), /^HTTP\/1\.1 413 /)
  assert.deepEqual(await bed.counts(), { requests: 0, failed: 0 })
})

test('a client that sends its body too slowly is not counted, a version that answers too slowly is', async (t) => {
  const bed = await trial(t, { requestTimeoutMs: 300 })
  const socket = bed.raw(`${head}Content-Length: 10\r\n\r\nhalf`)
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 504 /)
  socket.destroy()
  assert.deepEqual(await bed.counts(), { requests: 0, failed: 0 })
  const silent = await bed.application(() => {})
  const canary = { release: 'next', percent: 100, endpoints: [{ address: '127.0.0.1', port: portOf(silent) }] }
  await bed.lead([portOf(silent)], { host, canary, rules: { requestTimeoutMs: 300 } })
  assert.equal((await bed.ask({ host })).status, 504)
  assert.deepEqual(await bed.counts(), { requests: 1, failed: 1 })
})
