import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import { createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { endAfter } from '../test/support/http2-session.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { beds, portOf, type TestBed, testBed } from './test-bed.ts'

// An application that answers with bytes that programs could read in two ways. Its own client may
// get any part of them. Nobody else ever gets a byte of them, and nothing stays open.

const host = 'outside.invalid'
const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
const ok = 'HTTP/1.1 200 OK\r\n'
const chunks = '5\r\nhello\r\n0\r\n\r\n'
const coded = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const whole = `Content-Length: 5\r\n\r\nhello${evil}`
/** Lines of headers or trailers. */
const fields = (...lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('')

/** HTTP/2 forbids some headers, and Node.js sends others once only. */
const forbidden = fields('Connection: x-a', 'TE: gzip', 'HTTP2-Settings: a')
const twice = fields('ETag: a', 'ETag: b', 'Content-Type: a', 'Content-Type: b', 'Location: a', 'Location: b')
const named = fields('constructor: a', '__proto__: b')

/** Responses by their names. Each ends with what a second reading takes for another response. */
const responses: Readonly<Record<string, string>> = {
  'more bytes than declared': `${ok}${whole}`,
  'two lengths': `${ok}Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello${evil}`,
  'two lengths in one': `${ok}Content-Length: 5, 50\r\n\r\nhello${evil}`,
  'one length twice': `${ok}Content-Length: 5\r\n${whole}`,
  'a length and a coding': `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${evil}`,
  'a coding and a length': `${ok}Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n${chunks}${evil}`,
  'a coding twice': `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${evil}`,
  'a coding before chunked': `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n${chunks}${evil}`,
  'a coding after chunked': `${ok}Transfer-Encoding: chunked, identity\r\n\r\n${chunks}${evil}`,
  'an unknown coding': `${ok}Transfer-Encoding: xchunked\r\n\r\n${chunks}${evil}`,
  'a coding with a tab': `${ok}Transfer-Encoding:\tchunked\r\n\r\n${chunks}${evil}`,
  'a coding with a vertical tab': `${ok}Transfer-Encoding: \x0bchunked\r\n\r\n${chunks}${evil}`,
  'a negative length': `${ok}Content-Length: -5\r\n\r\nhello${evil}`,
  'a length with a sign': `${ok}Content-Length: +5\r\n\r\nhello${evil}`,
  'a length in hex': `${ok}Content-Length: 0x5\r\n\r\nhello${evil}`,
  'a length beyond 64 bits': `${ok}Content-Length: 18446744073709551621\r\n\r\nhello${evil}`,
  'a length of spaces': `${ok}Content-Length:  \r\n\r\nhello${evil}`,
  'a chunk beyond 64 bits': `${coded}10000000000000005\r\nhello\r\n0\r\n\r\n${evil}`,
  'a negative chunk': `${coded}-5\r\nhello\r\n0\r\n\r\n${evil}`,
  'a chunk with more bytes': `${coded}5\r\nhello too long\r\n0\r\n\r\n${evil}`,
  'chunks with bare line feeds': `${coded}5\nhello\n0\n\n${evil}`,
  'a trailer with a length': `${coded}5\r\nhello\r\n0\r\nContent-Length: 60\r\n\r\n${evil}`,
  'trailers that HTTP/2 forbids': `${coded}5\r\nhello\r\n0\r\n${forbidden}\r\n${evil}`,
  'trailers that HTTP/2 has once': `${coded}5\r\nhello\r\n0\r\n${twice}\r\n${evil}`,
  'trailers with names of JavaScript': `${coded}5\r\nhello\r\n0\r\n${named}\r\n${evil}`,
  'headers that HTTP/2 has once': `${ok}${twice}${forbidden}${whole}`,
  'hints that HTTP/2 forbids': `HTTP/1.1 103 Early Hints\r\n${twice}${forbidden}\r\n${ok}${whole}`,
  'a body after 204': `HTTP/1.1 204 No Content\r\n${whole}`,
  'a body after 304': `HTTP/1.1 304 Not Modified\r\nContent-Length: 60\r\n\r\n${evil}`,
  'chunks after 204': `HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}${evil}`,
  'another response after 100': `HTTP/1.1 100 Continue\r\n\r\n${ok}${whole}`,
  'many interim responses': `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000)}${ok}${whole}`,
  'interim responses alone': 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000),
  'a switch of protocols': `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${evil}`,
  'a status of two digits': `HTTP/1.1 99 Odd\r\n${whole}`,
  'a status of four digits': `HTTP/1.1 2000 Odd\r\n${whole}`,
  'a status that is no number': `HTTP/1.1 abc Odd\r\n${whole}`,
  'an unknown status': `HTTP/1.1 999 Odd\r\n${whole}`,
  'another version': `HTTP/3.7 200 OK\r\n${whole}`,
  'no status line': `hello\r\n\r\n${evil}`,
  'HTTP/2 on a connection of HTTP/1.1': `\0\0\0\x04\0\0\0\0\0${evil}`,
  'a line break in a reason': `HTTP/1.1 200 OK\nX-A: b\r\r${whole}`,
  'a header with NUL': `${ok}X-A: b\0c\r\n${whole}`,
  'a header with a bare CR': `${ok}X-A: b\rContent-Length: 60\r\n${whole}`,
  'a header with a bare LF': `${ok}X-A: b\nContent-Length: 60\r\n${whole}`,
  'a folded header': `${ok}X-A: b\r\n Content-Length: 60\r\n${whole}`,
  'a space before a colon': `${ok}Content-Length : 60\r\n${whole}`,
  'a header without a name': `${ok}: 60\r\n${whole}`,
  'a header without a colon': `${ok}Content-Length 60\r\n${whole}`,
  'large headers': `${ok}X-A: ${'a'.repeat(200_000)}\r\n${whole}`,
  'many headers': `${ok}${'X-A: b\r\n'.repeat(5_000)}${whole}`,
}

/** An application that answers `/attack?<name>` with these bytes, and other paths with the path. */
async function startAttacker(t: TestContext): Promise<number> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    let rest = ''
    socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket))
    socket.on('data', (bytes) => {
      rest += bytes.toString('latin1')
      for (let end = rest.indexOf('\r\n\r\n'); end >= 0; end = rest.indexOf('\r\n\r\n')) {
        const target = rest.split(' ')[1] ?? ''
        rest = rest.slice(end + 4)
        const name = decodeURIComponent(target.split('?')[1] ?? '')
        const plain = `${ok}Content-Length: ${target.length}\r\n\r\n${target}`
        socket.write(responses[name] ?? plain, 'latin1')
      }
    })
  })
  t.after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return portOf(server)
}

async function attackedBed(t: TestContext): Promise<TestBed> {
  const bed = await testBed(t, { tlsPort: 0 })
  const endpoints = [{ address: '127.0.0.1', port: await startAttacker(t) }]
  const common = { service: 'service', name: 'shop', endpoints }
  const routes = [
    { ...common, host: 'app.localhost' },
    { ...common, host, tls: { from: 'platform', redirects: true } },
  ]
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  return bed
}

/** A client of HTTP/2 ends its session by itself if a response has more headers. */
const tls = { servername: host, ca: selfSigned.cert, maxHeaderListPairs: 20_000 }

const patienceMs = 3_000
const settled = (work: Promise<unknown>): Promise<unknown> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, patienceMs)
  return Promise.race([work.catch(() => undefined), promise]).finally(() => clearTimeout(timer))
}

/** No request is open once its client has left. */
const untilIdle = (bed: TestBed) =>
  until('no request is open', async () => /"open":0/.test(JSON.stringify((await bed.tell('GET', '/activity')).body)))

test('no byte of a response that can be read in two ways reaches another request over HTTP/1.1', async (t) => {
  const bed = await attackedBed(t)
  for (const [name, method] of [
    ...Object.keys(responses).map((name) => [name, 'GET'] as const),
    ['more bytes than declared', 'HEAD'],
    ['a length and a coding', 'POST'],
    ['many interim responses', 'POST'],
  ] as const) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await settled(bed.ask({ path: `/attack?${encodeURIComponent(name)}`, agent, method }))
    agent.destroy()
    const next = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 0; count < 3; count++) {
      const { status, body } = await bed.ask({ path: `/after-${count}`, agent: next })
      assert.deepEqual([status, body], [200, `/after-${count}`], name)
    }
    next.destroy()
  }
  await untilIdle(bed)
})

test('no byte of a response that can be read in two ways reaches another request over HTTP/2', async (t) => {
  const bed = await attackedBed(t)
  for (const name of Object.keys(responses)) {
    const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, tls)
    endAfter(t, session)
    const ask = (path: string) => {
      const stream = session.request({ ':authority': host, ':path': path })
      return text(stream)
    }
    await settled(ask(`/attack?${encodeURIComponent(name)}`))
    const bodies = await Promise.all([0, 1, 2].map((count) => ask(`/after-${count}`)))
    assert.deepEqual(bodies, ['/after-0', '/after-1', '/after-2'], name)
    session.destroy()
  }
  await untilIdle(bed)
})

const byHaproxy = { skip: beds.haproxy ? 'HAProxy sends them as they are, and the client decides' : false }
test('trailers may have any names that HTTP has', async (t) => {
  const bed = await attackedBed(t)
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, tls)
  endAfter(t, session)
  const path = `/attack?${encodeURIComponent('trailers with names of JavaScript')}`
  const stream = session.request({ ':authority': host, ':path': path })
  const trailers = new Promise<Record<string, unknown>>((resolve) => stream.once('trailers', resolve))
  assert.equal(await text(stream), 'hello')
  assert.deepEqual(Object.entries(await trailers), [
    ['constructor', 'a'],
    ['__proto__', 'b'],
  ])
})

test('a response that HTTP/2 cannot send is a 502, or loses what it cannot send', byHaproxy, async (t) => {
  const bed = await attackedBed(t)
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, tls)
  endAfter(t, session)
  const ask = async (name: string) => {
    const stream = session.request({ ':authority': host, ':path': `/attack?${encodeURIComponent(name)}` })
    const status = new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])))
    return [await status, await text(stream)] as const
  }
  assert.equal((await ask('an unknown status'))[0], 502)
  for (const name of [
    'trailers that HTTP/2 forbids',
    'trailers that HTTP/2 has once',
    'headers that HTTP/2 has once',
  ]) {
    assert.deepEqual(await ask(name), [200, 'hello'], name)
  }
  assert.equal((await ask('many headers'))[0], 502)
  assert.deepEqual(await ask(''), [200, '/attack?'])
})
