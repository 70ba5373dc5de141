import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import {
  type ClientHttp2Session,
  connect,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { createServer as createNetServer } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { beds, portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

const host = 'outside.invalid'
const tls = { from: 'platform', redirects: true } as const

/** A request as its application received it. */
interface Seen {
  readonly body: string
  readonly headers: IncomingMessage['headers']
  readonly trailers: NodeJS.Dict<string>
}

interface Bed extends TestBed {
  readonly seen: Seen[]
  readonly port: number
  /** How many connections the application has accepted. */
  connections(): number
  session(): ClientHttp2Session
}

let version = 0

/** A router that leads `app.localhost`, and `outside.invalid` with HTTPS, to an application. */
async function trailerBed(t: TestContext, route: Partial<Route> = {}): Promise<Bed> {
  const bed = await testBed(t, { tlsPort: 0 })
  const seen: Seen[] = []
  let accepted = 0
  const app = await bed.application((request, response) => {
    text(request).then(
      (body) => {
        const { headers, trailers } = request
        seen.push({ body, headers, trailers })
        response.writeHead(200, { Trailer: 'x-back', 'Content-Type': 'text/plain' })
        response.write(`${body.length} bytes`)
        response.addTrailers({ 'x-back': 'b' })
        response.end()
      },
      () => response.destroy(),
    )
  })
  app.on('connection', () => accepted++)
  await leadTo(bed, portOf(app), route)
  const session = (): ClientHttp2Session => openSession(t, bed)
  return { ...bed, seen, port: portOf(app), connections: () => accepted, session }
}

async function leadTo(bed: Pick<TestBed, 'tell'>, port: number, route: Partial<Route>): Promise<void> {
  const endpoints = [{ address: '127.0.0.1', port }]
  const common = { service: 'service', name: 'shop', endpoints, ...route }
  const routes = [
    { ...common, host: 'app.localhost' },
    { ...common, host, tls },
  ]
  assert.equal((await bed.tell('PUT', '/routes', { version: ++version, routes })).status, 200)
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
}

function openSession(t: TestContext, { router }: Pick<TestBed, 'router'>): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${router.tlsPort}`, { servername: host, ca: selfSigned.cert })
  session.on('error', () => {})
  t.after(() => session.destroy())
  return session
}

/** The bytes of a request over HTTP/1.1 with one chunk and these trailers. */
const chunked = (announced: string, trailers: readonly string[], rest = 'Connection: close'): string =>
  `POST / HTTP/1.1\r\nHost: app.localhost\r\nTransfer-Encoding: chunked\r\n${announced}${rest}\r\n\r\n` +
  `4\r\nbody\r\n0\r\n${trailers.map((one) => `${one}\r\n`).join('')}\r\n`

/** Leads to an application that speaks HTTP/2. `note` is called for trailers, with the headers. */
async function leadToHttp2(
  t: TestContext,
  bed: Pick<TestBed, 'tell'>,
  note: (trailers: IncomingHttpHeaders, headers: IncomingHttpHeaders) => void,
): Promise<void> {
  const app = createHttp2Server().on('stream', (stream, headers) => {
    stream.on('trailers', (trailers) => note(trailers, headers))
    stream.resume().once('end', () => {
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
  })
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  t.after(() => void app.close())
  await leadTo(bed, portOf(app), { speaksHttp2: true })
}

/** Sends a request over HTTP/2 with trailers. Returns the status and body of the response. */
async function sendStream(
  session: ClientHttp2Session,
  { headers = {}, body = 'body', trailers }: { headers?: OutgoingHttpHeaders; body?: string; trailers: object },
): Promise<readonly [status: number, body: string]> {
  const asked = { ':authority': host, ':method': 'POST', ':path': '/', ...headers }
  const stream = session.request(asked, { waitForTrailers: true })
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  stream.once('wantTrailers', () => stream.sendTrailers({ ...trailers }))
  stream.on('response', (answer) => resolve(Number(answer[':status']))).on('error', reject)
  stream.end(body)
  return [await promise, await text(stream)]
}

test('announced trailers of a request over HTTP/1.1 reach the application', async (t) => {
  const { raw, seen } = await trailerBed(t)
  const answer = await untilClosed(
    raw(chunked('Trailer: X-Sum, Content-Digest\r\n', ['X-Sum: 42', 'content-digest: \xe9'])),
  )
  assert.match(answer, /^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n4 bytes\r\n0\r\nx-back: b\r\n\r\n$/i)
  const [{ body, headers, trailers } = assert.fail('nothing arrived')] = seen
  assert.deepEqual(
    [body, headers.trailer, trailers],
    ['body', 'x-sum, content-digest', { 'x-sum': '42', 'content-digest': '\xe9' }],
  )
})

test('headers of a request with trailers keep their non-ASCII bytes', async (t) => {
  const bed = await trailerBed(t)
  await untilClosed(bed.raw(chunked('Trailer: x-sum\r\nX-Odd: \xe9\xff\r\n', ['x-sum: 42'])))
  assert.deepEqual([bed.seen[0]?.headers['x-odd'], bed.seen[0]?.trailers], ['\xe9\xff', { 'x-sum': '42' }])
})

test('announced trailers of a request over HTTP/2 reach the application', async (t) => {
  const { session, seen } = await trailerBed(t)
  const opened = session()
  const headers = { trailer: 'x-sum' }
  assert.deepEqual(await sendStream(opened, { headers, trailers: { 'x-sum': '42' } }), [200, '4 bytes'])
  const large = 'x'.repeat(3_000_000)
  assert.deepEqual(await sendStream(opened, { headers, body: large, trailers: { 'x-sum': '7' } }), [
    200,
    '3000000 bytes',
  ])
  assert.deepEqual(await sendStream(opened, { headers, body: '', trailers: { 'x-sum': '0' } }), [200, '0 bytes'])
  assert.deepEqual(
    seen.map(({ headers: { trailer }, trailers }) => [trailer, trailers]),
    ['42', '7', '0'].map((sum) => ['x-sum', { 'x-sum': sum }]),
  )
})

test('an application that speaks HTTP/2 gets trailers of any name, and repeated ones', async (t) => {
  const { session, ...bed } = await trailerBed(t)
  const seen: unknown[] = []
  await leadToHttp2(t, bed, ({ constructor: one, etag }) => seen.push([one, etag]))
  const raw = bed.raw(chunked('Trailer: constructor, etag\r\n', ['constructor: a', 'etag: b', 'etag: c']))
  assert.match(await untilClosed(raw), /^HTTP\/1.1 200 /)
  assert.deepEqual(seen, [['a', 'b, c']])
})

test('trailers of a request that waits for its service reach the application', async (t) => {
  const { session, seen, port, ...bed } = await trailerBed(t, { endpoints: [], asleep: true })
  const answers = ['', 'body'].map((body) =>
    sendStream(session(), { headers: { trailer: 'x-sum' }, body, trailers: { 'x-sum': '42' } }),
  )
  await until('both are held', async () => Number((await bed.tell('GET', '/health')).body['held']) === 2)
  await leadTo(bed, port, {})
  assert.deepEqual((await Promise.all(answers)).toSorted(), [
    [200, '0 bytes'],
    [200, '4 bytes'],
  ])
  assert.deepEqual(
    seen.map(({ trailers }) => trailers),
    Array(2).fill({ 'x-sum': '42' }),
  )
})

test('trailers reach an application that speaks HTTP/2', async (t) => {
  const { raw, session, ...bed } = await trailerBed(t)
  const seen: unknown[] = []
  await leadToHttp2(t, bed, ({ 'x-sum': sum, host: named }, { trailer }) => seen.push([trailer, sum, named]))
  const trailers = { 'x-sum': '42' }
  assert.deepEqual(await sendStream(session(), { headers: { trailer: 'x-sum, host' }, trailers }), [200, 'ok'])
  const answer = await untilClosed(raw(chunked('Trailer: x-sum, host\r\n', ['x-sum: 42', 'host: other'])))
  assert.match(answer, /^HTTP\/1.1 200 /)
  assert.deepEqual(seen, Array(2).fill(['x-sum', '42', undefined]))
})

test('trailers that are not announced, or of a body with a declared length, are dropped', async (t) => {
  const { raw, session, seen } = await trailerBed(t)
  assert.match(await untilClosed(raw(chunked('', ['X-Sum: 42']))), /^HTTP\/1.1 200 /)
  assert.match(await untilClosed(raw(chunked('Trailer: x-a\r\n', ['X-Sum: 42', 'x-a: 1']))), /^HTTP\/1.1 200 /)
  const trailers = { 'x-sum': '42' }
  assert.deepEqual(await sendStream(session(), { trailers }), [200, '4 bytes'])
  const headers = { trailer: 'x-sum', 'content-length': '4' }
  assert.deepEqual(await sendStream(session(), { headers, trailers }), [200, '4 bytes'])
  assert.deepEqual(
    seen.map(({ headers: { trailer }, trailers: got }) => [trailer, got]),
    [
      [undefined, {}],
      ['x-a', { 'x-a': '1' }],
      [undefined, {}],
      [undefined, {}],
    ],
  )
})

const forbidden = [
  ...['host', 'content-length', 'transfer-encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['authorization', 'proxy-authorization', 'proxy', 'cookie', 'set-cookie', 'forwarded', 'x-real-ip', 'range'],
  ...['x-authentik-username', 'x-webauth-user', 'cf-access-jwt-assertion', 'x-token-subject', 'remote-user'],
  ...['tailscale-user-login', 'x-pomerium-claim-email', 'x-goog-iap-jwt-assertion', 'x-ms-client-principal'],
  ...['x-forwarded-for', 'x-forwarded-user', 'X_Forwarded_For', 'x_sum', 'x-quayside-door', 'content-encoding'],
  ...[
    'content-type',
    'if-match',
    'cache-control',
    'origin',
    'x-http-method-override',
    'x-set',
    'x-twice',
    'user-agent',
  ],
]

test('trailers never have names that change how a request is read', async (t) => {
  const { raw, seen } = await trailerBed(t, { rules: { requestHeaders: { 'X-Set': 'by the rule' } } })
  const announced = `X-Twice: first\r\nTrailer: ${forbidden.join(', ')}, x-fine\r\n`
  for (const name of forbidden) {
    const answer = await untilClosed(raw(chunked(announced, [`${name}: evil`, 'x-fine: 1'])))
    // HAProxy refuses some of them.
    assert.match(answer, /^HTTP\/1.1 (?:200|400) /, name)
  }
  assert.ok(seen.length > forbidden.length / 2, `${seen.length}`)
  for (const { headers: got, trailers, body } of seen) {
    assert.deepEqual(trailers, { 'x-fine': '1' })
    assert.ok(!JSON.stringify(got).includes('evil'), JSON.stringify(got))
    assert.deepEqual([body, got.trailer, got['x-set'], got['x-twice']], ['body', 'x-fine', 'by the rule', 'first'])
  }
})

test('no request is hidden in the trailers of another one', async (t) => {
  const { raw, seen, ask } = await trailerBed(t)
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: app.localhost'
  for (const line of [
    `x-sum: 1\r\n\r\n${hidden}`,
    `x-sum: 1\n\n${hidden}`,
    `x-sum: 1\r\r${hidden}`,
    `x-sum : 1\r\n\r\n${hidden}`,
    `x-sum: 1\r\n folded\r\n${hidden}`,
    `x-sum: 1\0\r\n${hidden}`,
    `: 1\r\n${hidden}`,
  ]) {
    const before = seen.length
    await untilClosed(raw(chunked('Trailer: x-sum\r\n', [line])))
    await ask({ path: '/after' })
    for (const { trailers } of seen.slice(before)) assert.ok(!JSON.stringify(trailers).includes('hidden'), line)
    // Connection: close ends the connection before a second request.
    assert.ok(seen.length - before <= 2, line)
  }
})

test('trailers that are too large end the request', async (t) => {
  const { raw, session, seen, ask } = await trailerBed(t)
  const value = 'v'.repeat(limits.trailerBytes)
  const answer = await untilClosed(raw(chunked('Trailer: x-sum\r\n', [`x-sum: ${value}`])))
  assert.match(answer, /^HTTP\/1.1 431 [\s\S]*trailers of the request are too large/)
  const trailers = { 'x-sum': value }
  const [status, body] = await sendStream(session(), { headers: { trailer: 'x-sum' }, trailers })
  assert.equal(status, 431)
  assert.match(body, /trailers of the request are too large/)
  for (const size of [limits.headerBytes, 10 * limits.headerBytes]) {
    const cut = await untilClosed(raw(chunked('Trailer: x-sum\r\n', [`x-sum: ${'v'.repeat(size)}`])))
    assert.match(cut, /^(?:HTTP\/1.1 4\d\d [\s\S]*)?$/)
  }
  assert.equal(seen.length, 0)
  assert.equal((await ask()).status, 200)
})

test('a request with trailers is sent again only if nothing of it was sent', async (t) => {
  const { raw, seen, port, tell } = await trailerBed(t)
  const [first, second] = [await findFreePort(), port]
  const endpoints = [first, second].map((one) => ({ address: '127.0.0.1', port: one }))
  const routes = [{ host: 'app.localhost', service: 'service', name: 'shop', endpoints }]
  assert.equal((await tell('PUT', '/routes', { version: ++version, routes })).status, 200)
  for (let count = 0; count < 4; count++) {
    const answer = await untilClosed(raw(chunked('Trailer: x-sum\r\n', ['x-sum: 42'])))
    assert.match(answer, /^HTTP\/1.1 200 /)
  }
  assert.deepEqual(
    seen.map(({ body, trailers }) => [body, trailers]),
    Array(4).fill(['body', { 'x-sum': '42' }]),
  )
})

test('a request with trailers whose application breaks off is answered with 502, once', async (t) => {
  const bed = await trailerBed(t)
  let asked = 0
  const app = await bed.application((request) => {
    asked++
    request.resume().once('end', () => request.socket.destroy())
  })
  await leadTo(bed, portOf(app), {})
  const answer = await untilClosed(bed.raw(chunked('Trailer: x-sum\r\n', ['x-sum: 42'])))
  assert.match(answer, /^HTTP\/1.1 502 /)
  assert.equal(asked, 1)
})

test('the connection of a client stays usable after trailers, and after an early answer', async (t) => {
  const bed = await trailerBed(t)
  const socket = bed.raw(chunked('Trailer: x-sum\r\n', ['x-sum: 42'], 'Connection: keep-alive'))
  let answered = ''
  socket.on('data', (chunk) => {
    answered += chunk
  })
  await until('the first answer is whole', () => /x-back: b\r\n\r\n$/i.test(answered))
  const early = await bed.application((_, response) => response.end('early'))
  await leadTo(bed, portOf(early), {})
  socket.write('POST / HTTP/1.1\r\nHost: app.localhost\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n')
  await until('the early answer is whole', () => answered.includes('early'))
  const part = 'x'.repeat(50_000)
  for (let count = 0; count < 20; count++) socket.write(`${part.length.toString(16)}\r\n${part}\r\n`)
  socket.write('0\r\nx-sum: 1\r\n\r\nGET /last HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n')
  const last = await untilClosed(socket)
  // HAProxy closes a connection whose request was answered early.
  if (!beds.haproxy) assert.match(`${answered}${last}`, /early[\s\S]*HTTP\/1.1 200 OK[\s\S]*early/)
})

test('requests without trailers share connections as before', async (t) => {
  const { raw, session, connections } = await trailerBed(t)
  for (let count = 0; count < 5; count++) {
    assert.match(await untilClosed(raw(chunked('', []))), /^HTTP\/1.1 200 /)
    assert.deepEqual(await sendStream(session(), { trailers: {} }), [200, '4 bytes'])
  }
  assert.equal(connections(), 1)
})

test('an application that switches protocols unasked answers nobody, and holds nothing', async (t) => {
  const bed = await testBed(t)
  const app = createNetServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
  })
  t.after(() => app.close())
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  await bed.lead([portOf(app)])
  const answer = await untilClosed(bed.raw(chunked('Trailer: x-sum\r\n', ['x-sum: 1'])))
  assert.match(answer, /^HTTP\/1\.1 502 /)
  const { body } = await bed.tell('GET', '/activity')
  assert.match(JSON.stringify(body), /"open":0/)
})
