import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { freshMs } from '@quayside/contract/sign-in.ts'
import { isHaproxySince } from '../test/support/haproxy.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { access, account, guard, listed, service } from './sign-in-bed.ts'
import { beds, moreThanBuffers, portOf, type TestBed, testBed } from './test-bed.ts'

const host = 'outside.invalid'
const tls = { from: 'platform', redirects: true } as const
const guid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

interface Bed extends TestBed {
  readonly port: number
  /** The upgrades that reached the application, with their connections. */
  readonly seen: { readonly request: IncomingMessage; readonly socket: Duplex }[]
  session(): Promise<ClientHttp2Session>
}

type Answer = (request: IncomingMessage, socket: Duplex) => void

/** The first lines of an answer that joins, as RFC 6455 wants it. */
const joined = ({ headers }: IncomingMessage, more = ''): string =>
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Own: yes\r\n' +
  `Sec-WebSocket-Accept: ${createHash('sha1').update(`${headers['sec-websocket-key']}${guid}`).digest('base64')}\r\n` +
  `${more}\r\n`

const echo: Answer = (request, socket) => {
  socket.write(joined(request, 'Sec-WebSocket-Protocol: chat\r\n'))
  socket.pipe(socket)
}

/** A router with HTTPS whose table leads `outside.invalid` to an application with WebSockets. */
async function streamBed(t: TestContext, answer = echo, connections = usualConnections): Promise<Bed> {
  const bed = await testBed(t, { tlsPort: 0, connections })
  const seen: Bed['seen'] = []
  const app = await bed.application((_, response) => response.end('plain'))
  app.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
    seen.push({ request, socket })
    socket.on('error', () => socket.destroy())
    answer(request, socket)
  })
  const lead: TestBed['lead'] = (ports, route = {}, people = {}) => bed.lead(ports, { host, tls, ...route }, people)
  await lead([portOf(app)])
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })).status, 200)
  const session = async (): Promise<ClientHttp2Session> => {
    const url = `https://127.0.0.1:${bed.router.tlsPort}`
    const opened = connect(url, { servername: host, ca: selfSigned.cert })
    opened.on('error', () => {})
    t.after(() => opened.destroy())
    await once(opened, 'remoteSettings')
    return opened
  }
  return { ...bed, lead, port: portOf(app), seen, session }
}

const asked = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':scheme': 'https',
  ':authority': host,
  ':path': '/chat?room=1',
  'sec-websocket-version': '13',
}

const open = (session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}, endStream = false): ClientHttp2Stream =>
  session.request({ ...asked, ...headers }, { endStream }).on('error', () => {})

const headersOf = async (stream: ClientHttp2Stream): Promise<IncomingHttpHeaders & { ':status'?: number }> =>
  (await once(stream, 'response'))[0]

/** Opens a WebSocket. Returns the status and body of the response that refuses it. */
async function refused(...from: Parameters<typeof open>): Promise<readonly [status: number | undefined, body: string]> {
  const stream = open(...from)
  const headers = await headersOf(stream)
  return [headers[':status'], await text(stream)]
}

test('a WebSocket over HTTP/2 reaches the application as an upgrade', async (t) => {
  const { session, seen } = await streamBed(t)
  const opened = await session()
  assert.equal(opened.remoteSettings.enableConnectProtocol, true)
  const headers = { 'sec-websocket-protocol': 'chat, other', cookie: ['a=1', 'b=2'], 'x-forwarded-for': '9.9.9.9' }
  const stream = open(opened, headers)
  const answer = await headersOf(stream)
  assert.deepEqual([answer[':status'], answer['x-own'], answer['sec-websocket-protocol']], [200, 'yes', 'chat'])
  assert.deepEqual([answer.upgrade, answer.connection], [undefined, undefined])
  // HAProxy leaves it, and no client reads it.
  if (!beds.haproxy) assert.equal(answer['sec-websocket-accept'], undefined)
  const { method, url, headers: got } = seen[0]?.request ?? assert.fail()
  assert.deepEqual([method, url, got.host, got.upgrade], ['GET', '/chat?room=1', host, 'websocket'])
  assert.deepEqual([got['sec-websocket-protocol'], got['sec-websocket-version']], ['chat, other', '13'])
  assert.match(got['sec-websocket-key'] ?? '', /^[\w+/]{22}==$/)
  assert.deepEqual([got.cookie, got['x-forwarded-for'], got['x-forwarded-proto']], ['a=1; b=2', '127.0.0.1', 'https'])
  assert.deepEqual([got['transfer-encoding'], got['content-length']], [undefined, undefined])
  stream.setEncoding('utf8').write('hello')
  assert.equal((await once(stream, 'data'))[0], 'hello')
  const second = open(opened)
  assert.equal((await headersOf(second))[':status'], 200)
  assert.notEqual(seen[1]?.request.headers['sec-websocket-key'], got['sec-websocket-key'])
  stream.close()
  second.setEncoding('utf8').write('still')
  assert.equal((await once(second, 'data'))[0], 'still')
})

test('all bytes of a WebSocket arrive before its end', async (t) => {
  const large = Buffer.alloc(5_000_000, 'abcdefghij')
  const { session, seen } = await streamBed(t, (request, socket) => {
    socket.write(joined(request))
    socket.end(large)
  })
  const stream = open(await session())
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  assert.ok(Buffer.concat(chunks).equals(large), `${Buffer.concat(chunks).length} bytes`)
  stream.end()
  await until('the connection of the application has ended', () => seen[0]?.socket.destroyed === true)
})

/** Since 3.2, HAProxy waits for the end of a client whose application has ended a WebSocket. */
const waitsForClient = beds.haproxy !== undefined && (await isHaproxySince(3, 2))

/** Returns whether a client's WebSocket has ended. Its own side ends then too. */
function hasEnded(stream: ClientHttp2Stream): boolean {
  if (waitsForClient && stream.readableEnded) stream.end()
  return stream.closed
}

test('one side of a WebSocket ends when the other does', async (t) => {
  const { session, seen, tell, port } = await streamBed(t)
  const opened = await session()
  const ends: readonly ((stream: ClientHttp2Stream, socket: Duplex) => void)[] = [
    (stream) => stream.end(),
    (stream) => stream.close(constants.NGHTTP2_CANCEL),
    (_, socket) => socket.end(),
    (_, socket) => socket.destroy(),
  ]
  for (const [index, end] of ends.entries()) {
    const stream = open(opened)
    assert.equal((await headersOf(stream))[':status'], 200)
    const { socket } = seen[index] ?? assert.fail()
    end(stream.resume(), socket)
    await until(`the other side ended: ${index}`, () => socket.destroyed && hasEnded(stream))
  }
  const last = open(opened)
  await headersOf(last)
  const endpoints = [{ address: '127.0.0.1', port }]
  assert.deepEqual((await tell('POST', '/drain', { endpoints, timeoutMs: 20 })).body, { open: 1 })
  opened.destroy()
  assert.deepEqual((await tell('POST', '/drain', { endpoints, timeoutMs: 5_000 })).body, { open: 0 })
})

test('a client that does not read stops the application from writing', async (t) => {
  const { session, seen } = await streamBed(t, (request, socket) => {
    socket.write(joined(request))
    const write = (): void => {
      if (socket.write(Buffer.alloc(64 * 1024))) setImmediate(write)
      else socket.once('drain', write)
    }
    write()
  })
  const stream = open(await session())
  await headersOf(stream)
  const written = (): number => (seen[0]?.socket as Socket | undefined)?.bytesWritten ?? 0
  let before = -1
  await until('the application has stopped', async () => {
    const isSame = written() === before
    before = written()
    await new Promise((resolve) => setTimeout(resolve, 300))
    return isSame
  })
  assert.ok(written() < moreThanBuffers, `${written()} bytes were written`)
})

test('an answer that declines a WebSocket reaches the client', async (t) => {
  const answers = ['403 Forbidden', '302 Found', '503 Service Unavailable']
  const { session } = await streamBed(t, (_, socket) => {
    socket.end(`HTTP/1.1 ${answers.shift()}\r\nX-Why: no\r\nConnection: close\r\nContent-Length: 8\r\n\r\ndeclined`)
  })
  const opened = await session()
  for (const status of [403, 302, 503]) {
    const stream = open(opened)
    const headers = await headersOf(stream)
    assert.deepEqual([headers[':status'], headers['x-why'], await text(stream)], [status, 'no', 'declined'])
  }
})

test('no answer but a valid one opens a WebSocket', async (t) => {
  const answers = [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 204 No Content\r\n\r\n',
    joined({ headers: { 'sec-websocket-key': 'another' } } as unknown as IncomingMessage),
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    'nonsense\r\n\r\n',
    '',
  ]
  const count = answers.length
  const { session, seen } = await streamBed(t, (_, socket) => void socket.end(answers.shift()))
  const opened = await session()
  for (let index = 0; index < count; index++) {
    const stream = open(opened)
    const end = await Promise.race([
      headersOf(stream).then((headers) => headers[':status']),
      new Promise((resolve) => stream.once('close', () => resolve('closed'))),
    ])
    assert.equal(end, beds.haproxy && end === 'closed' ? 'closed' : 502, `answer ${index}`)
    await until('the application was left', () => seen[index]?.socket.destroyed === true)
  }
})

const byHaproxy = { skip: beds.haproxy ? 'HAProxy sends these answers as they are' : false }
test('an answer that HTTP/2 cannot send opens no WebSocket, and ends the request', byHaproxy, async (t) => {
  let answer: Answer = echo
  const bed = await streamBed(t, (request, socket) => answer(request, socket))
  const session = await bed.session()
  answer = (_, socket) => void socket.end('HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nno')
  assert.equal((await refused(session))[0], 502)
  answer = (request, socket) => void socket.write(joined(request, 'TE: gzip\r\nHTTP2-Settings: x\r\n'))
  assert.equal((await headersOf(open(session)))[':status'], 200)
})

test('the rules of a route hold for WebSockets over HTTP/2', async (t) => {
  const { session, seen, lead, port } = await streamBed(t)
  const opened = await session()
  await lead([], { reason: 'no version is running' })
  assert.match((await refused(opened)).join(' '), /^503 .*no version is running/)
  await lead([port], { service, rules: guard }, listed())
  assert.equal((await refused(opened))[0], 401)
  const cookie = `__Host-${access({ host })}`
  assert.equal((await refused(opened, { cookie, origin: 'https://evil.invalid' }))[0], 403)
  assert.equal((await refused(opened, { cookie, 'sec-fetch-site': 'same-site' }))[0], 403)
  assert.equal(seen.length, 0)
  const stream = open(opened, { cookie, origin: `https://${host}` })
  assert.equal((await headersOf(stream))[':status'], 200)
  assert.equal(seen[0]?.request.headers['x-forwarded-user'], account)
})

test('a WebSocket ends with the right to open it', async (t) => {
  const { session, lead, port } = await streamBed(t)
  await lead([port], { service, rules: guard }, listed())
  const opened = await session()
  const cookie = `__Host-${access({ host, issuedAtMs: Date.now() - freshMs })}`
  const stream = open(opened, { cookie, origin: `https://${host}` }).resume()
  assert.equal((await headersOf(stream))[':status'], 200)
  await lead([port], { service, rules: guard }, listed({ other: 0 }))
  await until('it has ended', () => hasEnded(stream))
})

test('a WebSocket over HTTP/2 waits for a sleeping service', async (t) => {
  const { session, lead, port, tell } = await streamBed(t)
  await lead([], { asleep: true })
  const stream = open(await session())
  const answer = headersOf(stream)
  await until('it is held', async () => (await tell('GET', '/health')).body['held'] === 1)
  await lead([port])
  assert.equal((await answer)[':status'], 200)
})

test('nothing else of CONNECT is possible over HTTP/2', async (t) => {
  const { session, seen, lead, port } = await streamBed(t)
  const opened = await session()
  const cases: readonly (readonly [OutgoingHttpHeaders, endStream?: boolean])[] = [
    [{ ':protocol': 'connect-udp' }],
    [{ ':protocol': 'h2c' }],
    [{ ':authority': 'other.invalid' }],
    [{ ':path': '/a b' }],
    [{ ':path': 'http://other.invalid/' }],
    [{ 'content-length': '4' }],
    [{}, true],
    [{ ':authority': 'other.invalid', 'content-type': 'application/grpc' }],
    [{ ':protocol': 'other', 'content-type': 'application/grpc' }],
    [{ host: 'other.invalid' }],
  ]
  for (const [headers, endStream] of cases) {
    const stream = open(opened.closed ? await session() : opened, headers, endStream)
    const status = await Promise.race([
      headersOf(stream.resume()).then((answer) => answer[':status'] ?? 0),
      new Promise<number>((resolve) => stream.once('close', () => resolve(599))),
    ])
    // HAProxy writes a new request from what it understood.
    assert.ok(status >= 400 || beds.haproxy, `${JSON.stringify(headers)}: ${status}`)
    stream.close()
  }
  if (!beds.haproxy) assert.equal(seen.length, 0)
  for (const { request } of seen) {
    const { host: named, upgrade, 'content-length': length, 'transfer-encoding': coding } = request.headers
    assert.deepEqual([request.url, named, upgrade], ['/chat?room=1', host, 'websocket'])
    assert.deepEqual([length, coding], [undefined, undefined])
  }
  await lead([port], { speaksHttp2: true })
  for (const headers of [{}, { 'content-type': 'application/grpc' }]) {
    const [status = 0] = await refused(await session(), headers)
    assert.equal(status, 400)
  }
})

test('the open WebSockets of one client are limited, whatever its connections', async (t) => {
  const { session } = await streamBed(t, echo, { total: 100, perClient: 10 })
  const sessions = [await session(), await session()]
  const ends = sessions.flatMap((opened) =>
    Array.from({ length: 6 }, async () => {
      const stream = open(opened)
      const status = headersOf(stream).then((headers) => headers[':status'])
      return Promise.race([status, new Promise((resolve) => stream.once('close', () => resolve('refused')))])
    }),
  )
  const all = await Promise.all(ends)
  assert.ok(all.filter((end) => end === 200).length <= 10, `${all}`)
  assert.ok(
    all.some((end) => end === 'refused' || end === 429),
    `${all}`,
  )
})

test('a router that ends closes its WebSockets over HTTP/2', async (t) => {
  const { session, router } = await streamBed(t)
  const stream = open(await session()).resume()
  assert.equal((await headersOf(stream))[':status'], 200)
  await router.stop(100)
  await until('it has ended', () => hasEnded(stream))
})
