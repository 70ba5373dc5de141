import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import type { Route } from '@quayside/contract/routes.ts'
import { selfSigned, wildcard } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { moreThanBuffers, portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

const host = 'outside.invalid'
const own = { host, chain: selfSigned.cert, key: selfSigned.key }
const others = { host: '*.apps.far.test', chain: wildcard.cert, key: wildcard.key }
const tls = { from: 'platform', redirects: true } as const

interface Secure extends TestBed {
  readonly tlsPort: number
  /** Opens a session for `outside.invalid`. Ends with the test. */
  session(): ClientHttp2Session
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** A router with HTTPS whose table leads `outside.invalid` to an application. */
async function secureBed(
  t: TestContext,
  listener: Listener,
  route: Partial<Route> = {},
  connections = usualConnections,
): Promise<Secure> {
  const bed = await testBed(t, { tlsPort: 0, connections })
  const { tlsPort } = bed.router
  assert.ok(tlsPort)
  const application = await bed.application(listener)
  await bed.lead([portOf(application)], { host, tls, ...route })
  const certificates = { certificates: [own, others], challenges: [], mark: 'one' }
  assert.equal((await bed.tell('PUT', '/tls', certificates)).status, 200)
  const session = (): ClientHttp2Session => {
    const opened = connect(`https://127.0.0.1:${tlsPort}`, { servername: host, rejectUnauthorized: false })
    opened.on('error', () => {})
    t.after(() => opened.destroy())
    return opened
  }
  return { ...bed, tlsPort, session }
}

type Answered = IncomingHttpHeaders & IncomingHttpStatusHeader

/** Sends a request. Returns its stream and the headers of the response. */
async function ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
  body?: string | Buffer,
): Promise<{ readonly stream: ClientHttp2Stream; readonly headers: Answered }> {
  const stream = session.request({ ':authority': host, ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const [answered] = await once(stream, 'response')
  return { stream, headers: answered }
}

/** Sends a request. Returns the status and body of the response. */
async function answerTo(...asked: Parameters<typeof ask>): Promise<{ readonly status: number; readonly body: string }> {
  const { stream, headers } = await ask(...asked)
  return { status: headers[':status'] ?? 0, body: await text(stream) }
}

/** Returns the code with which the router resets a stream. */
async function resetOf(stream: ClientHttp2Stream): Promise<number> {
  stream.on('error', () => {}).resume()
  if (!stream.closed) await new Promise((resolve) => void stream.once('close', resolve))
  return stream.rstCode ?? 0
}

const echo: Listener = (request, response) => {
  const { method, url, rawHeaders, headers } = request
  text(request).then(
    (body) => response.end(JSON.stringify({ method, url, rawHeaders, headers, body })),
    () => response.destroy(),
  )
}

test('a request over HTTP/2 reaches the application over HTTP/1.1', async (t) => {
  const bed = await secureBed(t, echo)
  const session = bed.session()
  const asked = { ':method': 'POST', ':path': '/a?b=c', 'x-one': '1', cookie: ['a=1', 'b=2'], te: 'trailers' }
  const { status, body } = await answerTo(session, asked, 'sent')
  assert.equal(status, 200)
  const seen = JSON.parse(body)
  assert.deepEqual([seen.method, seen.url, seen.body], ['POST', '/a?b=c', 'sent'])
  const { host: named, cookie, te, 'x-one': one } = seen.headers
  assert.deepEqual([named, cookie, te, one], [host, 'a=1; b=2', undefined, '1'])
  assert.equal(seen.headers['x-forwarded-proto'], 'https')
  assert.equal(seen.headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(session.alpnProtocol, 'h2')
})

test('many streams of one connection are answered at the same time', async (t) => {
  const waiting: ServerResponse[] = []
  const bed = await secureBed(t, (_request, response) => void waiting.push(response))
  const session = bed.session()
  const answers = Array.from({ length: 50 }, (_, index) => answerTo(session, { ':path': `/${index}` }))
  await until('all requests have arrived', () => waiting.length === 50)
  for (const response of waiting.reverse()) response.end(response.req.url)
  const bodies = (await Promise.all(answers)).map(({ body }) => body)
  assert.deepEqual(
    bodies,
    bodies.map((_, index) => `/${index}`),
  )
  assert.equal(session.remoteSettings.maxConcurrentStreams, limits.streamsPerConnection)
})

test('trailers, early hints and an expected 100 reach the client', async (t) => {
  const bed = await secureBed(t, (request, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    request.resume().once('end', () => {
      response.writeHead(200, { Trailer: 'x-sum' })
      response.write('body')
      response.addTrailers({ 'x-sum': '42' })
      response.end()
    })
  })
  const stream = bed.session().request({ ':authority': host, ':method': 'POST', expect: '100-continue' })
  const informed: unknown[] = []
  const trailers = once(stream, 'trailers')
  stream.on('headers', (headers) => informed.push([headers[':status'], headers['link']]))
  await once(stream, 'continue')
  stream.end('sent')
  assert.equal(await text(stream), 'body')
  assert.equal((await trailers)[0]['x-sum'], '42')
  assert.deepEqual(informed, [
    [100, undefined],
    [103, '</a.css>; rel=preload'],
  ])
})

test('HEAD, 204 and 304 have no body and keep their headers', async (t) => {
  const bed = await secureBed(t, ({ url }, response) => {
    response.writeHead(Number(url?.slice(1)), { etag: '"x"', 'set-cookie': ['a=1', 'b=2'] })
    response.end()
  })
  const session = bed.session()
  for (const [method, status] of [
    ['HEAD', 200],
    ['GET', 204],
    ['GET', 304],
  ] as const) {
    const { stream, headers } = await ask(session, { ':method': method, ':path': `/${status}` })
    assert.equal(await text(stream), '')
    assert.deepEqual([headers[':status'], headers.etag], [status, '"x"'])
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
  }
})

test('a large body passes in both directions', async (t) => {
  const bed = await secureBed(t, (request, response) => request.pipe(response))
  const large = Buffer.alloc(20_000_000, 'abcdefghij')
  const stream = bed.session().request({ ':authority': host, ':method': 'POST' })
  const pieces = Array.from({ length: 200 }, (_, index) => large.subarray(index * 100_000, (index + 1) * 100_000))
  Readable.from(pieces).pipe(stream)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  assert.ok(Buffer.concat(chunks).equals(large))
})

test('a client that does not read stops the application from writing', async (t) => {
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  const bed = await secureBed(t, (_request, response) => {
    const write = (): void => {
      written += chunk.length
      if (response.write(chunk)) setImmediate(write)
      else response.once('drain', write)
    }
    write()
  })
  const { stream } = await ask(bed.session())
  stream.pause()
  let before = -1
  await until('the application has stopped', async () => {
    const isSame = written === before
    before = written
    await new Promise((resolve) => setTimeout(resolve, 300))
    return isSame
  })
  assert.ok(written < moreThanBuffers, `${written} bytes were written`)
  stream.close(constants.NGHTTP2_CANCEL)
})

test('a cancelled stream ends the request at the application, and no other', async (t) => {
  const open = new Set<string>()
  const bed = await secureBed(t, ({ url = '' }, response) => {
    open.add(url)
    response.write('begun')
    response.once('close', () => open.delete(url))
  })
  const session = bed.session()
  const [first] = await Promise.all([ask(session, { ':path': '/1' }), ask(session, { ':path': '/2' })])
  await until('both are open', () => open.size === 2)
  first.stream.close(constants.NGHTTP2_CANCEL)
  await until('one has ended', () => open.size === 1)
  assert.deepEqual([...open], ['/2'])
})

test('an application that breaks off a response resets its stream', async (t) => {
  const bed = await secureBed(t, ({ url }, response) => {
    if (url === '/fine') return response.end('fine')
    response.write('begun')
    return setImmediate(() => response.destroy())
  })
  const session = bed.session()
  const stream = session.request({ ':authority': host })
  assert.equal(await resetOf(stream), constants.NGHTTP2_INTERNAL_ERROR)
  assert.equal((await answerTo(session, { ':path': '/fine' })).body, 'fine')
})

test('a response before the end of the request asks the client to stop', async (t) => {
  const bed = await secureBed(t, echo, { rules: { maxBodyBytes: 1000 } })
  const session = bed.session()
  const stream = session.request({ ':authority': host, ':method': 'POST', 'content-length': '2000' })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 413)
  assert.equal(await resetOf(stream), constants.NGHTTP2_NO_ERROR)
  assert.equal((await answerTo(session, { ':method': 'POST' }, 'short')).status, 200)
})

test('a request for a host of another certificate is answered with 421', async (t) => {
  const bed = await secureBed(t, echo)
  const session = bed.session()
  for (const other of ['shop.apps.far.test', 'elsewhere.invalid']) {
    assert.equal((await answerTo(session, { ':authority': other })).status, 421)
  }
  assert.equal((await answerTo(session, { ':authority': `${host}:443` })).status, 200)
})

test('a client that offers HTTP/1.1 only is served as before', async (t) => {
  const bed = await secureBed(t, echo)
  const { connect: connectTls } = await import('node:tls')
  const socket = connectTls({
    port: bed.tlsPort,
    servername: host,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write(`GET /old HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  assert.match(await untilClosed(socket), /^HTTP\/1\.1 200 OK\r\n[\s\S]*"\/old"/)
  assert.equal(socket.alpnProtocol, 'http/1.1')
})

test('a router that ends finishes open streams and loses no request', async (t) => {
  const waiting: ServerResponse[] = []
  const bed = await secureBed(t, (_request, response) => void waiting.push(response))
  const session = bed.session()
  const answer = answerTo(session, { ':path': '/slow' })
  await until('the request is open', () => waiting.length === 1)
  const told = once(session, 'goaway')
  await bed.tell('POST', '/shutdown')
  const [code] = await told
  assert.equal(code, constants.NGHTTP2_NO_ERROR)
  waiting[0]?.end('finished')
  assert.deepEqual(await answer, { status: 200, body: 'finished' })
  await bed.router.ended
})

// The limit for open requests is thirty seconds.
test('a router that ends does not wait for idle connections', { timeout: 10_000 }, async (t) => {
  const bed = await secureBed(t, echo)
  const session = bed.session()
  assert.equal((await answerTo(session)).status, 200)
  await bed.tell('POST', '/shutdown')
  await bed.router.ended
})

test('a request that is sent while the router begins to end is answered, or refused before it acts', async (t) => {
  const waiting: ServerResponse[] = []
  let answered = 0
  const bed = await secureBed(t, ({ url }, response) => {
    if (url === '/slow') waiting.push(response)
    else response.end(`${++answered}`)
  })
  const session = bed.session()
  const slow = answerTo(session, { ':path': '/slow' })
  await until('the request is open', () => waiting.length === 1)
  let isTold = false
  session.once('goaway', () => {
    isTold = true
  })
  const asked: Promise<'answered' | 'refused'>[] = []
  const send = (): void => {
    const stream = session.request({ ':authority': host })
    const answer = new Promise<'answered' | 'refused'>((resolve, reject) => {
      stream.on('response', () => resolve('answered')).on('error', reject)
      stream.on('close', () => stream.rstCode === constants.NGHTTP2_REFUSED_STREAM && resolve('refused'))
    })
    asked.push(
      answer.catch((error) => (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM ? 'refused' : assert.fail(error))),
    )
  }
  const ended = bed.tell('POST', '/shutdown')
  while (!isTold && asked.length < 90) {
    send()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  const ends = await Promise.all(asked)
  assert.equal(ends.filter((end) => end === 'answered').length, answered)
  waiting[0]?.end('finished')
  assert.equal((await slow).body, 'finished')
  await bed.router.ended
})

test('the open streams of one client are limited, whatever its connections', async (t) => {
  const bed = await secureBed(t, () => {}, {}, { total: 100, perClient: 10 })
  const streams = [bed.session(), bed.session()].flatMap((session) =>
    Array.from({ length: 6 }, () => session.request({ ':authority': host })),
  )
  const refused = await Promise.any(streams.map(resetOf))
  assert.equal(refused, constants.NGHTTP2_REFUSED_STREAM)
  await until('two are refused', () => streams.filter(({ closed }) => closed).length === 2)
})
