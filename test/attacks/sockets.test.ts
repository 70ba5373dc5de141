import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'
import { until } from '../support/until.ts'

/** Group E over a raw connection: bytes that no well-behaved client sends. */
const platform = await createPlatform({ after })
const { a } = platform
const origin = await platform.listen()
const token = `Authorization: Bearer ${a.tokens.ADMIN}`
const projects = `/organization/${a.organizationId}/project`
const post = (body: string, ...headers: string[]): string =>
  rawRequest(`POST ${projects}`, [token, 'Content-Type: application/json', ...headers], body)

/** Asserts that the server still answers and nothing was written. */
async function assertUnharmed(before: Awaited<ReturnType<typeof platform.fingerprint>>): Promise<void> {
  const { statuses } = await sendRaw(origin, rawRequest('GET /health/live'), { answers: 1 })
  assert.deepEqual(statuses, [200])
  assert.deepEqual(await platform.fingerprint(), before)
}

test('E6 a body that is longer than allowed is not read to its end', async () => {
  const before = await platform.fingerprint()
  const head = `POST ${projects} HTTP/1.1\r\nHost: localhost\r\n${token}\r\nContent-Type: application/json\r\n`
  const announced = await sendRaw(origin, `${head}Content-Length: 1000000000\r\n\r\nx`)
  assert.deepEqual(announced.statuses, [413])
  assert.ok(announced.isClosed)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const endless = await sendRaw(origin, [`${head}Transfer-Encoding: chunked\r\n\r\n`, ...Array(64).fill(chunk)])
  assert.deepEqual(endless.statuses.slice(0, 1), [413])
  assert.ok(endless.isClosed)
  await assertUnharmed(before)
})

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n'
const ambiguous: Record<string, string> = {
  'length and chunks': post('0\r\n\r\n', 'Transfer-Encoding: chunked') + smuggled,
  'two lengths': `${post('{}', 'Content-Length: 50')}${smuggled}`,
  'a length with a sign': post('', 'Content-Length: +5').replace('Content-Length: 0\r\n', ''),
  'an unknown coding': rawRequest(`POST ${projects}`, [token, 'Transfer-Encoding: xchunked']) + smuggled,
  'a coding twice': rawRequest(`POST ${projects}`, [token, 'Transfer-Encoding: chunked, identity']) + smuggled,
  'a space before the colon': rawRequest(`GET ${projects}`, [token, 'Content-Length : 5']) + smuggled,
  'bare line feeds': `GET ${projects} HTTP/1.1\nHost: localhost\n${token}\n\n${smuggled}`,
  'a folded header': rawRequest(`GET ${projects}`, [token, 'X-A: b\r\n c']) + smuggled,
  'a NUL in a header': rawRequest(`GET ${projects}`, [token, 'X-A: b\0c']) + smuggled,
  'a bad chunk size':
    rawRequest(`POST ${projects}`, [token, 'Transfer-Encoding: chunked']) + `zz\r\n{}\r\n0\r\n\r\n${smuggled}`,
  'no such protocol': `GET ${projects} HTTP/9.9\r\nHost: localhost\r\n\r\n`,
  'no HTTP at all': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
}
for (const [what, bytes] of Object.entries(ambiguous)) {
  test(`E26 ${what}: 400, the connection ends, and no later bytes are parsed`, async () => {
    const before = await platform.fingerprint()
    const { statuses, isClosed, text } = await sendRaw(origin, bytes)
    assert.deepEqual(statuses, [400], text)
    assert.ok(isClosed)
    assert.ok(!text.includes('smuggled'))
    await assertUnharmed(before)
  })
}

test('E26 an upgrade to another protocol is not accepted', async () => {
  const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
  const { statuses } = await sendRaw(origin, rawRequest(`GET ${projects}`, [token, ...h2c]), { answers: 1 })
  assert.deepEqual(statuses, [200])
})

const hosts: Record<string, [string, number]> = {
  'another name': [`GET ${projects} HTTP/1.1\r\nHost: evil.example\r\n${token}\r\n\r\n`, 421],
  'a name below ours': [`GET ${projects} HTTP/1.1\r\nHost: localhost.evil.example\r\n${token}\r\n\r\n`, 421],
  'no name': [`GET ${projects} HTTP/1.1\r\nHost:\r\n${token}\r\n\r\n`, 421],
  'no header': [`GET ${projects} HTTP/1.1\r\n${token}\r\n\r\n`, 400],
  'two names': [`GET ${projects} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n${token}\r\n\r\n`, 400],
  credentials: [`GET ${projects} HTTP/1.1\r\nHost: a@evil.example\r\n${token}\r\n\r\n`, 421],
  'an absolute address': [`GET http://evil.example${projects} HTTP/1.1\r\nHost: localhost\r\n${token}\r\n\r\n`, 421],
  'our own absolute address': [
    `GET http://localhost${projects} HTTP/1.1\r\nHost: evil.example\r\n${token}\r\n\r\n`,
    200,
  ],
}
for (const [what, [bytes, status]] of Object.entries(hosts)) {
  test(`E27 a Host header with ${what} is answered with ${status}`, async () => {
    const { statuses, text } = await sendRaw(origin, bytes, { answers: 1 })
    assert.deepEqual(statuses, [status], text)
    assert.ok(!text.includes('evil.example'))
  })
}

test('E27 forwarding headers of an untrusted client are ignored', async () => {
  const claims = ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: https', 'Forwarded: host=evil.example']
  const links = rawRequest(`GET /application/${a.objects.applicationId}/link`, [token, ...claims])
  const { text } = await sendRaw(origin, links, { answers: 1 })
  assert.ok(text.includes('.localhost:8080') && !text.includes('evil.example'))
})

test('E28 a line break in a value reaches no header', async () => {
  const body = JSON.stringify({ name: 'a\r\nSet-Cookie: x=1', description: 'b\r\nX-Injected: 1' })
  const { text, statuses } = await sendRaw(origin, post(body), { answers: 1 })
  assert.deepEqual(statuses, [400])
  assert.doesNotMatch(text, /^(Set-Cookie|X-Injected)/im)
})

test('E29 a thousand requests over one connection are answered in order', async () => {
  const count = 1000
  const requests = Array.from({ length: count }, (_, index) => rawRequest(`GET /missing/${index}`)).join('')
  const { statuses } = await sendRaw(origin, requests, { answers: count, idleMs: 10_000 })
  assert.deepEqual([...new Set(statuses)], [404])
  assert.equal(statuses.length, count)
})

test('E25 incomplete headers and silent connections are ended', () => {
  const { server } = platform.app
  assert.ok(server.headersTimeout > 0 && server.headersTimeout <= 10_000)
  assert.ok(server.requestTimeout > 0)
  assert.ok(server.timeout > 0 && server.timeout <= 60_000)
  assert.ok(server.keepAliveTimeout > 0 && server.keepAliveTimeout <= 10_000)
})

test('N25 a client that never closes its side holds no connection after a refusal', async () => {
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
  ]
  const refused = {
    'bad HTTP': 'no HTTP at all\r\n\r\n',
    'a stream without a token': rawRequest('GET /shell/exec', upgrade),
  }
  for (const [what, bytes] of Object.entries(refused)) {
    const client = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true })
    after(() => client.destroy())
    client.on('error', () => client.destroy()).resume()
    client.write(bytes)
    await once(client, 'end')
    await until(`${what}: the connection is closed`, () => !client.write('more') && client.destroyed)
  }
})
