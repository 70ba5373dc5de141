import assert from 'node:assert/strict'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { type Http3Request, startHttp3Client } from '../../test/support/http3/client.ts'
import { wildcard } from '../../test/support/self-signed.ts'
import { beds } from '../test-bed.ts'
import { host, http3Bed, missingHttp3Front } from './test-http3.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? (await missingHttp3Front(haproxy)) ?? false

test('a request over HTTP/3 that can be read in two ways reaches no application', { skip }, async (t) => {
  const seen: string[] = []
  const { client } = await http3Bed(t, {}, {}, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end()
  })
  const bad: Readonly<Record<string, Http3Request>> = {
    'another host than the certificate': { authority: 'other.invalid' },
    'a Host beside another authority': { headers: { host: 'other.invalid' } },
    'no authority': { headers: { ':authority': [] } },
    'a connection': { headers: { connection: 'x-gone' } },
    'a coding': { headers: { 'transfer-encoding': 'chunked' }, method: 'POST', body: 'a', length: false },
    'an upgrade': { headers: { upgrade: 'h2c' } },
    'a line end in a value': { headers: { 'x-own': 'a\r\nx-forwarded-for: 9.9.9.9' } },
    'a zero byte in a value': { headers: { 'x-own': 'a\0b' } },
    'a space in a name': { headers: { 'x own': 'a' } },
    'a colon in a name': { headers: { 'x:own': 'a' } },
    'a large letter in a name': { headers: { 'X-Own': 'a' } },
    'a path with a space': { path: '/a HTTP/1.1' },
    'a path with a line end': { path: '/a\r\nx: y' },
    'a fragment': { path: '/a#b' },
    'a whole URL as its path': { path: 'http://other.invalid/' },
    'an empty path': { headers: { ':path': '' } },
    'a tunnel': { method: 'CONNECT' },
    'a method with a space': { method: 'GET /b' },
    'a length that is too small': { method: 'POST', headers: { 'content-length': '1' }, body: 'abc', length: false },
    'a length that is too large': { method: 'POST', headers: { 'content-length': '9' }, body: 'abc', length: false },
    'two lengths': { method: 'POST', headers: { 'content-length': ['3', '4'] }, body: 'abc', length: false },
    'an unknown pseudo-header': { headers: { ':own': 'a' } },
    'a repeated pseudo-header': { headers: { ':path': ['/a', '/b'] } },
    'a WebSocket': { method: 'CONNECT', headers: { ':protocol': 'websocket' } },
  }
  for (const [what, request] of Object.entries(bad)) {
    const answer = await client.ask({ ...request, cancelAfterMs: 2_000 }).catch((error: unknown) => String(error))
    const status = typeof answer === 'string' ? 0 : answer.status
    assert.ok(status === 0 || (status >= 400 && status < 600), `${what}: ${status}`)
    assert.deepEqual(seen.splice(0), [], what)
    // HAProxy closes the whole connection for some of them.
    await client.close()
    assert.equal((await client.ask()).status, 200, what)
    seen.splice(0)
  }
})

test('a request over HTTP/3 with too many or too long headers is refused', { skip }, async (t) => {
  const { client } = await http3Bed(t)
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'a']))
  for (const headers of [{ 'x-own': 'a'.repeat(20_000) }, { cookie: Array(300).fill('a=b') }, many]) {
    const answer = await client.ask({ headers, cancelAfterMs: 5_000 }).catch(() => undefined)
    assert.ok(answer === undefined || (answer.status >= 400 && answer.status < 500), String(answer?.status))
    await client.close()
    assert.equal((await client.ask()).status, 200)
  }
})

test('bytes that are no frames of HTTP/3 end at most their own connection', { skip }, async (t) => {
  const { client, tlsPort } = await http3Bed(t)
  const attacks: Readonly<Record<string, readonly number[]>> = {
    'no frame': [...Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    'a body without headers': [0x00, 0x01, 0x61],
    'settings on a stream of a request': [0x04, 0x00],
    'a block of headers that refers to nothing': [0x01, 0x04, 0xff, 0xff, 0xff, 0xff],
    'a frame that claims a gigabyte': [0x01, 0xc0, 0, 0, 0, 0x40, 0, 0, 0],
    'a frame of HTTP/2': [0x06, 0x08, 0, 0, 0, 0, 0, 0, 0, 0],
  }
  const others = Object.entries(attacks).map(async ([what, bytes]) => {
    const other = (await startHttp3Client(t, { port: tlsPort, serverName: host, ca: wildcard.cert })) ?? assert.fail()
    const { bytes: answered } = await other.raw(Uint8Array.from(bytes), { end: true })
    assert.ok(!Buffer.from(answered).includes('x-forwarded'), what)
    for (const kind of [0x00, 0x01, 0x02, 0x54]) {
      await other.raw(Uint8Array.from([kind, ...bytes]), { kind: 'unidirectional' })
      await other.close()
    }
    assert.equal((await other.ask()).status, 200, what)
  })
  await Promise.all(others)
  assert.equal((await client.ask()).status, 200)
})

test('a client that resets all of its streams over HTTP/3 keeps nobody from an answer', { skip }, async (t) => {
  const { client, tlsPort, tell } = await http3Bed(t, {}, {}, (request, response) => {
    if (request.url === '/') response.end()
  })
  const other = (await startHttp3Client(t, { port: tlsPort, serverName: host, ca: wildcard.cert })) ?? assert.fail()
  const flood = Array.from({ length: 5_000 }, () =>
    client.ask({ path: '/wait', cancelAfterMs: 0 }).catch(() => undefined),
  )
  for (let count = 0; count < 50; count++) assert.equal((await other.ask()).status, 200)
  await Promise.all(flood)
  assert.equal((await other.ask()).status, 200)
  assert.equal(typeof (await tell('GET', '/health')).body['haproxyPid'], 'number')
})
