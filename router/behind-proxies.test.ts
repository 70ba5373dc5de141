import assert from 'node:assert/strict'
import { connect as connectSession } from 'node:http2'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { usualConnections } from '@quayside/contract/connection-shares.ts'
import { endAfter } from '../test/support/http2-session.ts'
import { proxyHeaderOf } from '../test/support/proxy-header.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { beds, portOf, type TestBed, testBed, untilClosed } from './test-bed.ts'

const host = 'outside.invalid'
const line = 'PROXY TCP4 192.0.2.1 198.51.100.1 5000 443\r\n'
const ask = `GET /a HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n`

/** A router whose application answers with the address of its client. */
async function bedBehind(
  t: TestContext,
  proxies: readonly string[],
  trusted: readonly string[] = [],
  connections = usualConnections,
): Promise<TestBed> {
  const bed = await testBed(t, { tlsPort: 0, proxies, trusted, connections })
  const application = await bed.application(({ headers }, response) => {
    response.setHeader('x-client', String(headers['x-forwarded-for']))
    response.end()
  })
  await bed.lead([portOf(application)], { host })
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  return bed
}

/** Sends the header of a proxy to the port of HTTPS. Returns the connection. */
function throughProxy(t: TestContext, { router }: TestBed, header: Buffer | string): Socket {
  const below = connect(router.tlsPort ?? 0, '127.0.0.1')
  t.after(() => below.destroy())
  below.on('error', () => {})
  below.write(header)
  return below
}

const clientIn = (answer: string): string | undefined => /^x-client: (.*)\r$/im.exec(answer)?.[1]

test('the client is the one that the proxy names, in both versions of the header', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.0/8'])
  for (const [header, client] of [
    [line, '192.0.2.1'],
    [proxyHeaderOf('192.0.2.2').toString('latin1'), '192.0.2.2'],
    [proxyHeaderOf('2001:db8::1').toString('latin1'), '2001:db8::1'],
    ['PROXY UNKNOWN\r\n', '127.0.0.1'],
  ] as const) {
    assert.equal(clientIn(await untilClosed(bed.raw(header + ask))), client)
  }
})

// HAProxy accepts only a whole header, as the specification allows (section 2).
const inParts = { skip: beds.haproxy ? 'HAProxy accepts only a whole header' : false }
test('the header may arrive byte by byte', inParts, async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'])
  const socket = bed.raw('')
  socket.setNoDelay()
  for (const byte of line) {
    socket.write(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  socket.write(ask)
  assert.equal(clientIn(await untilClosed(socket)), '192.0.2.1')
})

test('the header comes before the handshake of TLS, for HTTP/1.1 and HTTP/2', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'])
  const options = { servername: host, rejectUnauthorized: false }
  const socket = connectTls({ ...options, socket: throughProxy(t, bed, line), ALPNProtocols: ['http/1.1'] })
  // The end of the client can meet a connection that is closed already.
  socket.on('error', () => {}).write(ask)
  assert.equal(clientIn(await untilClosed(socket)), '192.0.2.1')
  const session = connectSession(`https://${host}`, {
    createConnection: () =>
      connectTls({ ...options, socket: throughProxy(t, bed, proxyHeaderOf('192.0.2.7')), ALPNProtocols: ['h2'] }),
  })
  endAfter(t, session)
  const stream = session.request({ ':authority': host })
  const client = new Promise((resolve) => stream.on('response', (headers) => resolve(headers['x-client'])))
  stream.resume()
  assert.equal(await client, '192.0.2.7')
})

test('rules use the client that the proxy names', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'])
  const application = await bed.application((_request, response) => response.end())
  await bed.lead([portOf(application)], { host, rules: { deny: ['192.0.2.0/24'] } })
  assert.match(await untilClosed(bed.raw(line + ask)), /^HTTP\/1\.1 403 /)
  assert.match(await untilClosed(bed.raw(line.replace('192.0.2', '192.0.3') + ask)), /^HTTP\/1\.1 200 /)
  assert.match(await untilClosed(bed.raw(`PROXY UNKNOWN\r\n${ask}`)), /^HTTP\/1\.1 200 /)
})

test('the clients of a proxy have shares of their own', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'], [], { total: 100, perClient: 3 })
  const keep = ask.replace('Connection: close\r\n', '')
  const answered = async (name: string): Promise<string> => {
    let text = ''
    let isClosed = false
    const socket = bed.raw(proxyHeaderOf(name).toString('latin1') + keep)
    t.after(() => void socket.destroy())
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket
      .on('error', () => {})
      .on('close', () => {
        isClosed = true
      })
    await until('an answer or an end', () => isClosed || text.includes('\r\n\r\n'))
    return text.slice(0, 12)
  }
  for (let count = 0; count < 3; count++) assert.equal(await answered('192.0.2.1'), 'HTTP/1.1 200')
  assert.equal(await answered('192.0.2.1'), '')
  assert.equal(await answered('192.0.2.2'), 'HTTP/1.1 200')
})

test('a client that comes without a proxy has its share before any handshake', async (t) => {
  const bed = await bedBehind(t, ['192.0.2.0/24'], [], { total: 100, perClient: 3 })
  // HAProxy counts connections on several threads. So any of them can be the one too many, and two
  // that come at the same moment can both be.
  const silent = Array.from({ length: 4 }, () => throughProxy(t, bed, ''))
  const closed = (): number => silent.filter((socket) => socket.closed).length
  for (const socket of silent) socket.resume()
  await until('one of them is closed', () => closed() > 0)
  assert.ok(closed() <= 2, `${closed()} are closed`)
})

test('a connection of a proxy without the header is closed', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'])
  for (const bytes of [ask, `PROXY TCP4 nowhere 198.51.100.1 5000 443\r\n${ask}`, `${line.slice(0, -2)}\n${ask}`]) {
    assert.equal(await untilClosed(bed.raw(bytes)), '')
  }
})

test('a client that is no proxy cannot name itself by the header', async (t) => {
  for (const proxies of [[], ['192.0.2.0/24']]) {
    const bed = await bedBehind(t, proxies)
    assert.equal(clientIn(await untilClosed(bed.raw(ask))), '127.0.0.1')
    assert.match(await untilClosed(bed.raw(line + ask)), /^HTTP\/1\.1 400 /)
    const socket = connectTls({ servername: host, rejectUnauthorized: false, socket: throughProxy(t, bed, line) })
    await assert.rejects(new Promise((resolve, reject) => socket.on('secureConnect', resolve).on('error', reject)))
  }
})

test('a client behind a proxy names no other one in X-Forwarded-For', async (t) => {
  const bed = await bedBehind(t, ['127.0.0.1'], ['127.0.0.1'])
  assert.equal(clientIn(await untilClosed(bed.raw(line + ask))), '192.0.2.1')
})
