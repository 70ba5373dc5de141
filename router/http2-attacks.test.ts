import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { connect as connectSession } from 'node:http2'
import test, { type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { block, type Frame, flags, frame, framesOf, preface, types } from '../test/support/http2-frames.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { beds, portOf, type TestBed, testBed } from './test-bed.ts'

const host = 'outside.invalid'
const usual = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', host],
  [':path', '/'],
] as const
type Fields = readonly (readonly [string, string])[]

/** Replaces or removes the usual fields of a request, and adds others after them. */
const fieldsWith = (changed: Readonly<Record<string, string | undefined>>, added: Fields = []): Fields => [
  ...usual.flatMap(([name, value]): Fields => {
    const now = name in changed ? changed[name] : value
    return now === undefined ? [] : [[name, now]]
  }),
  ...added,
]

/** A connection to which a test writes frames. */
interface Raw {
  readonly socket: TLSSocket
  send(...frames: readonly Frame[]): void
  /** Sends the headers of a request, which ends with them unless `flags` say otherwise. */
  request(stream: number, fields: Fields, set?: number): void
  frames(): ReturnType<typeof framesOf>
  closed(): boolean
}

interface Attacked {
  readonly bed: TestBed
  /** The requests that reached the application. */
  readonly seen: IncomingMessage[]
  raw(): Promise<Raw>
  /** Resolves once another client is answered. */
  isAlive(): Promise<void>
}

async function attacked(t: TestContext): Promise<Attacked> {
  const bed = await testBed(t, { tlsPort: 0 })
  const port = bed.router.tlsPort ?? 0
  const seen: IncomingMessage[] = []
  const application = await bed.application((request, response) => {
    seen.push(request)
    request.resume().once('end', () => response.end('answered'))
    if (request.url === '/never') request.removeAllListeners('end')
  })
  await bed.lead([portOf(application)], { host, tls: { from: 'platform', redirects: true } })
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  return {
    bed,
    seen,
    raw: () => openRaw(t, port),
    isAlive: async () => {
      const session = connectSession(`https://127.0.0.1:${port}`, { servername: host, rejectUnauthorized: false })
      t.after(() => session.destroy())
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      session.on('error', reject)
      const stream = session.request({ ':authority': host, ':path': '/alive' })
      stream.on('response', (headers) => resolve(headers[':status'])).on('error', reject)
      assert.equal(await promise, 200)
      session.destroy()
    },
  }
}

async function openRaw(t: TestContext, port: number): Promise<Raw> {
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: host,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  })
  t.after(() => socket.destroy())
  let [bytes, isClosed] = [Buffer.alloc(0), false]
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
  })
  socket
    .on('error', () => {})
    .on('close', () => {
      isClosed = true
    })
  socket.on('end', () => {
    isClosed = true
  })
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  const send: Raw['send'] = (...frames) => void socket.write(Buffer.concat(frames.map(frame)))
  socket.write(preface)
  send({ type: types.settings })
  return {
    socket,
    send,
    request: (stream, fields, set = flags.endStream | flags.endHeaders) =>
      send({ type: types.headers, flags: set, stream, payload: block(fields) }),
    frames: () => framesOf(bytes),
    closed: () => isClosed,
  }
}

/** How the router ended a stream: with its status, with a reset, or with its connection. */
async function endOf(
  raw: Pick<Raw, 'frames' | 'closed'>,
  stream: number,
): Promise<'refused' | 'answered' | 'reset' | 'closed'> {
  const own = () => raw.frames().filter((one) => one.stream === stream)
  await until('the stream has ended', () =>
    Boolean(raw.closed() || own().some(({ type, flags: set }) => type === types.reset || (set & 1) === 1)),
  )
  const frames = own()
  const text = Buffer.concat(frames.filter(({ type }) => type === types.data).map(({ payload }) => payload)).toString()
  if (/"status":4\d\d/.test(text)) return 'refused'
  if (frames.some(({ type }) => type === types.reset)) return 'reset'
  return frames.length > 0 ? 'answered' : 'closed'
}

/** Whether a request has one host, the root as its path, and no body. */
const isPlain = ({ url, rawHeaders, headers }: IncomingMessage): boolean =>
  url === '/' &&
  headers.host === host &&
  rawHeaders.every((name) => !/^(?:content-length|transfer-encoding)$/i.test(name))

test('a request that HTTP/1.1 could read in two ways never reaches the application', async (t) => {
  const { raw, seen, isAlive } = await attacked(t)
  const cases: readonly (readonly [string, Fields])[] = [
    ['transfer-encoding', fieldsWith({}, [['transfer-encoding', 'chunked']])],
    ['connection', fieldsWith({}, [['connection', 'x-a']])],
    ['keep-alive', fieldsWith({}, [['keep-alive', '1']])],
    ['upgrade', fieldsWith({}, [['upgrade', 'h2c']])],
    ['proxy-connection', fieldsWith({}, [['proxy-connection', 'close']])],
    ['te with a coding', fieldsWith({}, [['te', 'gzip']])],
    ['two lengths', fieldsWith({}, [...[1, 2].map((n) => ['content-length', `${n}`] as const)])],
    ['a length with a sign', fieldsWith({}, [['content-length', '+0']])],
    ['a length without its body', fieldsWith({}, [['content-length', '5']])],
    ['a line break in the method', fieldsWith({ ':method': 'GET / HTTP/1.1\r\nx: y\r\n\r\nGET' })],
    ['a space in the method', fieldsWith({ ':method': 'GET /other' })],
    ['an empty method', fieldsWith({ ':method': '' })],
    ['no method', fieldsWith({ ':method': undefined })],
    ['no path', fieldsWith({ ':path': undefined })],
    ['an empty path', fieldsWith({ ':path': '' })],
    ['a path without a slash', fieldsWith({ ':path': 'admin' })],
    ['an absolute path', fieldsWith({ ':path': 'http://other.invalid/' })],
    ['a star', fieldsWith({ ':path': '*' })],
    ['a space in the path', fieldsWith({ ':path': '/ HTTP/1.1' })],
    ['a line break in the path', fieldsWith({ ':path': '/ HTTP/1.1\r\nx: y' })],
    ['a fragment in the path', fieldsWith({ ':path': '/a#b' })],
    ['no scheme', fieldsWith({ ':scheme': undefined })],
    ['the scheme of plain HTTP', fieldsWith({ ':scheme': 'http' })],
    ['a scheme with a host', fieldsWith({ ':scheme': 'https://other.invalid/?' })],
    ['no authority', fieldsWith({ ':authority': undefined })],
    ['another host', fieldsWith({}, [['host', 'other.invalid']])],
    ['two hosts', fieldsWith({ ':authority': undefined }, [...[host, host].map((one) => ['host', one] as const)])],
    ['a login in the authority', fieldsWith({ ':authority': `me@${host}` })],
    ['a line break in the authority', fieldsWith({ ':authority': `${host}\r\nx: y` })],
    ['two paths', [...usual, [':path', '/other']]],
    ['a late pseudo-header', [...usual.slice(0, 3), ['x-a', 'b'], [':path', '/']]],
    ['an unknown pseudo-header', [...usual, [':other', '1']]],
    ['a protocol', [...usual, [':protocol', 'websocket']]],
    [
      'a connection to another host',
      [
        [':method', 'CONNECT'],
        [':authority', 'other.invalid:22'],
      ],
    ],
  ]
  for (const [what, fields] of cases) {
    const connection = await raw()
    connection.request(1, fields)
    const end = await endOf(connection, 1)
    // HAProxy writes a new request from what it understood.
    if (beds.haproxy) assert.ok(seen.every(isPlain), what)
    else assert.notEqual(end, 'answered', what)
    connection.socket.destroy()
  }
  if (!beds.haproxy) assert.equal(seen.length, 0)
  await isAlive()
})

test('trailers that arrive together with their headers are checked as others are', async (t) => {
  const { raw, seen, isAlive } = await attacked(t)
  const methods = ['GET', 'POST', 'OPTIONS']
  const lengths: Fields[] = [
    [],
    [
      ['content-length', '0'],
      ['x-known', 'yes'],
    ],
  ]
  const bodies: Frame[][] = [[], [{ type: types.data, stream: 1 }]]
  const trailer = block([
    ['x-forwarded-for', '192.0.2.1'],
    ['x-fine', '1'],
  ])
  for (const method of methods)
    for (const length of lengths)
      for (const body of bodies) {
        const { send, frames, closed, socket } = await raw()
        const payload = block(fieldsWith({ ':method': method }, [['trailer', 'x-forwarded-for, x-fine'], ...length]))
        send({ type: types.headers, flags: flags.endHeaders, stream: 1, payload }, ...body, {
          type: types.headers,
          flags: flags.endHeaders | flags.endStream,
          stream: 1,
          payload: trailer,
        })
        await endOf({ frames, closed }, 1)
        socket.destroy()
      }
  await isAlive()
  const requests = seen.filter(({ url }) => url === '/')
  assert.equal(requests.length, methods.length * lengths.length * bodies.length)
  for (const { headers, trailers } of requests) {
    const isKnown = headers['x-known'] === 'yes'
    assert.deepEqual(trailers, isKnown ? {} : { 'x-fine': '1' }, JSON.stringify(headers))
    assert.equal(headers.trailer, isKnown ? undefined : 'x-fine')
  }
})

test('a field with a forbidden character does not reach the application', async (t) => {
  const { raw, seen } = await attacked(t)
  const fields: Fields = [
    ['x-a', 'b\r\nhost: other'],
    ['x-a', 'b\nc: d'],
    ['x-a', 'b\rc: d'],
    ['x-a', 'b\0c'],
    ['x-a: b\r\nc', 'd'],
    ['x-a:', 'd'],
    ['x a', 'd'],
    ['', 'd'],
    ['X-A', 'd'],
    ['x_a', 'd'],
    ['x\x80a', 'd'],
  ]
  for (const field of fields) {
    const connection = await raw()
    connection.request(1, fieldsWith({}, [field]))
    await endOf(connection, 1)
    connection.socket.destroy()
  }
  const known = /^(?:host|connection|x-forwarded-(?:for|proto|host|port)|x-real-ip)$/i
  for (const { url, method, rawHeaders, headers } of seen) {
    assert.deepEqual([method, url, headers.host], ['GET', '/', host])
    assert.deepEqual(
      rawHeaders.filter((name, index) => index % 2 === 0 && !known.test(name)),
      [],
    )
  }
})

test('trailers never have names that change how a request is read', async (t) => {
  const { raw, seen } = await attacked(t)
  const names = [
    ...['host', 'content-length', 'transfer-encoding', 'connection', 'upgrade', 'te', 'trailer', 'authorization'],
    ...['proxy', 'cookie', 'forwarded', 'x-real-ip', 'x-forwarded-for', 'X-Forwarded-For', 'x_forwarded_for'],
    ...['x-quayside-door', 'content-encoding', 'if-match', 'x-given', ':path', ':authority', 'x a', 'x:', '', 'x\r\ny'],
  ]
  const added = [
    ['trailer', `x-fine, ${names.filter((name) => /^[\w-]+$/.test(name)).join(', ')}`],
    ['x-given', 'first'],
  ] as const
  for (const name of names) {
    const connection = await raw()
    connection.request(1, fieldsWith({ ':method': 'POST' }, added), flags.endHeaders)
    connection.send({ type: types.data, stream: 1, payload: Buffer.from('body') })
    connection.request(1, [
      ['x-fine', '1'],
      [name, 'evil'],
    ])
    await endOf(connection, 1)
    connection.socket.destroy()
  }
  const whole = seen.filter(({ complete }) => complete)
  assert.ok(whole.length > 5, `${whole.length}`)
  for (const { url, method, headers, trailers } of whole) {
    assert.deepEqual([method, url, headers.host, headers['x-given']], ['POST', '/', host, 'first'])
    assert.deepEqual([headers.trailer, { ...trailers }], ['x-fine', { 'x-fine': '1' }])
    assert.ok(!JSON.stringify(headers).includes('evil'), JSON.stringify(headers))
  }
})

test('a body whose length is not the declared one is cut off', async (t) => {
  const { raw, seen } = await attacked(t)
  for (const [length, body] of [
    ['3', 'four'],
    ['10', 'four'],
  ] as const) {
    const connection = await raw()
    connection.request(1, fieldsWith({ ':method': 'POST' }, [['content-length', length]]), flags.endHeaders)
    connection.send({ type: types.data, flags: flags.endStream, stream: 1, payload: Buffer.from(body) })
    assert.match(await endOf(connection, 1), /reset|closed/)
  }
  assert.deepEqual(
    seen.filter(({ complete }) => complete).map(({ url }) => url),
    [],
  )
})

test('a body that its client breaks off is never complete', async (t) => {
  const { raw, seen, isAlive } = await attacked(t)
  const codes = [0, 1, 2, 8]
  for (const code of codes)
    for (const ends of ['stream', 'connection']) {
      const count = seen.length
      const connection = await raw()
      connection.request(1, fieldsWith({ ':method': 'POST' }), flags.endHeaders)
      connection.send({ type: types.data, stream: 1, payload: Buffer.from('half') })
      await until('the request has arrived', () => seen.length > count)
      const payload = Buffer.from([0, 0, 0, code])
      if (ends === 'stream') connection.send({ type: types.reset, stream: 1, payload })
      else connection.send({ type: types.goaway, payload: Buffer.concat([Buffer.alloc(4), payload]) })
      connection.socket.end()
      await until('the request has ended', () => seen[count]?.destroyed)
    }
  await isAlive()
  const broken = seen.filter(({ method }) => method === 'POST')
  assert.deepEqual(
    broken.map(({ complete }) => complete),
    Array.from({ length: 2 * codes.length }, () => false),
  )
})

test('a client that resets its streams again and again loses its connection', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy keeps the connection: floods.test.ts has its bounds')
  const { raw, seen, isAlive } = await attacked(t)
  const connection = await raw()
  const reset = Buffer.from([0, 0, 0, 8])
  let stream = 1
  for (let count = 0; count < 3000 && !connection.closed(); count++, stream += 2) {
    connection.request(stream, fieldsWith({ ':path': '/never' }))
    connection.send({ type: types.reset, stream, payload: reset })
    if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await until('the connection is closed', () => connection.closed())
  assert.ok(seen.length <= limits.streamResets * 2, `${seen.length} requests reached the application`)
  await isAlive()
})

test('a client that makes the router reset its streams loses its connection', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy keeps the connection: floods.test.ts has its bounds')
  const { raw, isAlive } = await attacked(t)
  const connection = await raw()
  for (let stream = 1; stream < 6001 && !connection.closed(); stream += 2) {
    connection.request(stream, fieldsWith({ ':path': '/never' }), flags.endHeaders)
    connection.send({ type: types.window, stream, payload: Buffer.alloc(4) })
    if (stream % 101 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await until('the connection is closed', () => connection.closed())
  await isAlive()
})

test('more streams than announced are refused', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy lets the other streams wait: floods.test.ts has its bounds')
  const { raw, seen } = await attacked(t)
  const connection = await raw()
  const most = limits.streamsPerConnection
  await until('the settings have arrived', () => connection.frames().some(({ type }) => type === types.settings))
  connection.send({ type: types.settings, flags: flags.ack })
  for (let stream = 1; stream < 2 * (most + 20); stream += 2)
    connection.request(stream, fieldsWith({ ':path': '/never' }))
  await until('the router has ended the connection or the other streams', () => {
    const resets = connection.frames().filter(({ type }) => type === types.reset)
    return resets.length === 20 || connection.closed()
  })
  assert.ok(seen.length <= most, `${seen.length} requests reached the application`)
})

test('a header block without an end closes the connection', async (t) => {
  const { raw, seen, isAlive } = await attacked(t)
  const connection = await raw()
  connection.request(1, fieldsWith({}), flags.endStream)
  const filler = block([['x-a', 'b'.repeat(1000)]])
  for (let count = 0; count < 1000 && !connection.closed(); count++) {
    connection.send({ type: types.continuation, stream: 1, payload: filler })
  }
  await until('the connection is closed', () => connection.closed())
  assert.equal(seen.length, 0)
  await isAlive()
})

test('headers that are too many or too large are rejected', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy joins cookies, and has its own limits')
  const { raw, seen, isAlive } = await attacked(t)
  const many = Array.from({ length: limits.streamFields }, (_, index) => [`x-${index}`, 'a'] as const)
  const large = Array.from({ length: 5 }, (_, index) => [`x-${index}`, 'a'.repeat(8 * 1024)] as const)
  const cookies = Array.from({ length: limits.streamFields }, () => ['cookie', 'a=b'] as const)
  for (const added of [many, cookies]) {
    const connection = await raw()
    connection.request(1, fieldsWith({}, added))
    assert.notEqual(await endOf(connection, 1), 'answered')
  }
  const connection = await raw()
  const [first, ...rest] = [...usual, ...large].map((field) => block([field]))
  connection.send({ type: types.headers, flags: flags.endStream, stream: 1, payload: first ?? Buffer.alloc(0) })
  for (const [index, payload] of rest.entries()) {
    const set = index === rest.length - 1 ? flags.endHeaders : 0
    connection.send({ type: types.continuation, flags: set, stream: 1, payload })
  }
  assert.notEqual(await endOf(connection, 1), 'answered')
  assert.equal(seen.length, 0)
  await isAlive()
})

test('a small block that unpacks to large headers is rejected', async (t) => {
  const { raw, seen, isAlive } = await attacked(t)
  const connection = await raw()
  // The first field enters the table, and each following byte repeats it.
  const bomb = Buffer.concat([block(usual), block([['x-bomb', 'a'.repeat(3900)]], 0x40), Buffer.alloc(100, 0xbe)])
  for (let stream = 1; stream < 101 && !connection.closed(); stream += 2) {
    const payload = stream === 1 ? bomb : Buffer.concat([block(usual), Buffer.alloc(100, 0xbe)])
    connection.send({ type: types.headers, flags: flags.endStream | flags.endHeaders, stream, payload })
    assert.notEqual(await endOf(connection, stream), 'answered')
  }
  assert.equal(seen.length, 0)
  await until('the connection is closed', () => connection.closed())
  await isAlive()
})

test('floods of pings, settings and empty frames do not stop the router', async (t) => {
  const { raw, isAlive } = await attacked(t)
  const floods: readonly Frame[] = [
    { type: types.ping, payload: Buffer.alloc(8) },
    { type: types.settings },
    { type: types.data, stream: 1 },
    { type: types.window, payload: Buffer.from([0, 0, 0, 1]) },
  ]
  for (const one of floods) {
    const connection = await raw()
    connection.request(1, fieldsWith({ ':method': 'POST', ':path': '/never' }), flags.endHeaders)
    connection.socket.pause()
    const bytes = Buffer.concat(Array.from({ length: 1000 }, () => frame(one)))
    for (let count = 0; count < 20 && !connection.closed(); count++) connection.socket.write(bytes)
    await isAlive()
    connection.socket.destroy()
  }
})

test('a connection without a request is closed, whatever it sends', async (t) => {
  if (beds.haproxy) return t.skip('HAProxy closes it after its own time')
  const { raw } = await attacked(t)
  const connection = await raw()
  await until('the settings have arrived', () => connection.frames().length > 0)
  connection.send({ type: types.ping, payload: Buffer.alloc(8) })
  await until('the connection is closed', () => connection.closed(), { limitMs: limits.clientHeadersMs + 5000 })
})

test('another protocol after the choice of HTTP/2 closes the connection', async (t) => {
  const { bed, seen, isAlive } = await attacked(t)
  const socket = connect({
    host: '127.0.0.1',
    port: bed.router.tlsPort ?? 0,
    servername: host,
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  })
  t.after(() => socket.destroy())
  socket.on('error', () => {}).resume()
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  assert.equal(seen.length, 0)
  await isAlive()
})
