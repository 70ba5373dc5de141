import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { isHaproxySince } from '../test/support/haproxy.ts'
import { type Attack, fatal, invalid, passing } from '../test/support/http2-attacks.ts'
import { block, flags, types } from '../test/support/http2-frames.ts'
import { endAfter } from '../test/support/http2-session.ts'
import {
  data,
  goaway,
  head,
  ok,
  padded,
  type RawRequest,
  type RawServer,
  reset,
  response,
  startRawHttp2,
  withoutTable,
} from '../test/support/raw-http2-server.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { sleep } from './clock.ts'
import { limits } from './limits.ts'
import { beds, moreThanBuffers, type TestBed, testBed } from './test-bed.ts'

// Applications that speak HTTP/2 and answer with frames that no library sends.

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')
const host = 'outside.invalid'

/** A response as a client sees it: its status and body, unless it was broken off. */
type Seen = readonly [number, string] | 'broken'

interface Attacked {
  readonly bed: TestBed
  readonly server: RawServer
  /** The requests for `/open`, which wait until the test answers them. */
  readonly open: RawRequest[]
  /** The clients by their protocol and method. */
  readonly clients: Readonly<Record<string, (path: string) => Promise<Seen>>>
}

/** An application that does this with requests for `/attack`. It answers others with their path. */
async function attacked(
  t: TestContext,
  attack: (request: RawRequest) => void,
  { settings, rules }: { readonly settings?: Buffer | null; readonly rules?: RouteRules } = {},
): Promise<Attacked> {
  const bed = await testBed(t, { tlsPort: 0 })
  const open: RawRequest[] = []
  const server = await startRawHttp2(t, {
    ...(settings === undefined ? {} : { settings }),
    answer: (request) => {
      if (request.path === '/attack') attack(request)
      else if (request.path === '/open') open.push(request)
      else request.send(...response(request.stream, request.path))
    },
  })
  const endpoints = [{ address: '127.0.0.1', port: server.port }]
  const common = { service: 'service', name: 'shop', speaksHttp2: true, endpoints, ...(rules ? { rules } : {}) }
  const routes = [
    { ...common, host: 'app.localhost' },
    { ...common, host, tls: { from: 'platform', redirects: true } },
  ]
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const over1 =
    (method: string) =>
    async (path: string): Promise<Seen> => {
      const body = method === 'POST' ? 'body' : ''
      const asked = bed.ask({ path: padded(path), method, body, agent: new Agent() })
      return asked.then(
        ({ status, body: text }) => [status, text] as const,
        () => 'broken',
      )
    }
  const over2 = (method: string) => (path: string) => askOver2(t, bed, { path, method })
  const clients = {
    'GET over HTTP/1.1': over1('GET'),
    'POST over HTTP/1.1': over1('POST'),
    'GET over HTTP/2': over2('GET'),
    'POST over HTTP/2': over2('POST'),
  }
  return { bed, server, open, clients }
}

interface Asked {
  readonly path: string
  readonly method: string
}

function askOver2(t: TestContext, bed: TestBed, { path, method }: Asked): Promise<Seen> {
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, { servername: host, ca: selfSigned.cert })
  endAfter(t, session)
  const hasBody = method === 'POST'
  const fields = { ':authority': host, ':path': padded(path), ':method': method }
  const stream = session.request(fields, { endStream: !hasBody })
  if (hasBody) stream.end('body')
  let [status, text] = [0, '']
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0
  })
  stream.on('data', (chunk) => {
    text += chunk
  })
  return new Promise((resolve) => {
    stream.on('error', () => stream.destroy())
    stream.on('close', () => {
      resolve(stream.rstCode === 0 ? [status, text] : 'broken')
      session.destroy()
    })
  })
}

/** No request is open once its client has its answer. */
const untilIdle = (bed: TestBed) =>
  until('no request is open', async () => /"open":0/.test(JSON.stringify((await bed.tell('GET', '/activity')).body)))

interface Trial {
  check(name: string, seen: Seen): void
  /**
   * How often another request is sent that was open over the same connection, at most. It is always
   * answered. Undefined: there is no other request.
   */
  readonly others?: number
}

/** Tries each attack with each client. */
async function tryEach(
  t: TestContext,
  attacks: Readonly<Record<string, (request: RawRequest) => void>>,
  { check, others }: Trial,
): Promise<void> {
  let attack = (_request: RawRequest): void => {}
  let attempts = 0
  const { bed, clients, open, server } = await attacked(t, (request) => {
    attempts++
    attack(request)
  })
  const answer = (): void => {
    for (const { send, stream } of open) send(...response(stream, 'open'))
  }
  const other = clients['GET over HTTP/1.1'] ?? assert.fail()
  for (const [name, attempt] of Object.entries(attacks)) {
    attack = attempt
    for (const client of ['GET over HTTP/1.1', 'POST over HTTP/2']) {
      const ask = clients[client] ?? assert.fail()
      const what = `${name}, ${client}`
      open.length = 0
      attempts = 0
      const waiting = others === undefined ? undefined : other('/open')
      if (waiting) await until('another request is open', () => open.length > 0)
      check(what, await Promise.race([ask('/attack'), limit(what)]))
      if (others !== undefined) {
        assert.ok(attempts <= others, `${what}: ${attempts} attempts`)
        const answering = setInterval(answer, 10)
        assert.deepEqual(await waiting, [200, 'open'], what)
        clearInterval(answering)
        assert.ok(open.length <= others, `${what}: ${open.length} other attempts`)
      }
      assert.deepEqual(await ask('/next'), [200, '/next'], what)
    }
  }
  await untilIdle(bed)
  await until('the idle connections are closed', () => server.connections.every(({ socket }) => socket.destroyed))
}

const limit = (what: string): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`the client waits: ${what}`)), 8_000).unref()
  })

test('an application cannot end the router with headers without an end', async (t) => {
  const { open, clients } = await attacked(t, ({ send, stream }) => {
    send({ type: types.headers, stream, payload: block([ok]) })
    const filler = () => block([['x-a', 'b'.repeat(1_000)]])
    // The garbage collector runs meanwhile.
    for (let sent = 0; sent < 2_000; sent++) send({ type: types.continuation, stream, payload: filler() })
  })
  const ask = clients['POST over HTTP/1.1'] ?? assert.fail()
  for (let count = 0; count < 12; count++) {
    open.length = 0
    const other = ask('/open')
    await until('another request is open', () => open.length > 0)
    const [own, broken] = await Promise.all([ask('/attack'), other])
    assert.deepEqual([own[0], broken[0]], [502, 502])
    collect()
  }
  assert.deepEqual(await ask('/next'), [200, '/next'])
})

const codes = [0, 1, 2, 8, 99]

test('a response that its application breaks off is never whole', async (t) => {
  const begun = ({ send, stream }: RawRequest): void => send(head(stream), data(stream, 'hel'))
  const attacks = [
    ...codes.map((code) => [`reset ${code}`, ({ send, stream }: RawRequest) => send(reset(stream, code))] as const),
    ...codes.map((code) => {
      const attack = (request: RawRequest): void => {
        begun(request)
        request.send(reset(request.stream, code))
      }
      return [`reset ${code} in the body`, attack] as const
    }),
    ...[0, 2].map((code) => {
      const attack = (request: RawRequest): void => {
        begun(request)
        request.send(goaway(request.stream, code))
        setTimeout(() => request.socket.resetAndDestroy(), 20)
      }
      return [`the end of the connection with ${code} in the body`, attack] as const
    }),
    ['the end of the connection', ({ socket }: RawRequest) => void socket.end()] as const,
  ]
  await tryEach(t, Object.fromEntries(attacks), { check: assertFailed })
})

test('a response that was complete before its stream was reset is whole', async (t) => {
  const attacks = codes.map((code) => {
    const attack = ({ send, stream }: RawRequest): void => send(...response(stream, 'hello'), reset(stream, code))
    return [`reset ${code}`, attack] as const
  })
  await tryEach(t, Object.fromEntries(attacks), { check: (what, seen) => assert.deepEqual(seen, [200, 'hello'], what) })
})

/** Before 3.0, HAProxy ended a response without a length over HTTP/2 as if it were whole. */
const endsAsWhole = beds.haproxy !== undefined && !(await isHaproxySince(3))

/** Checks that a client notices a failure. */
function assertFailed(what: string, seen: Seen): void {
  const passes = endsAsWhole && what.endsWith('over HTTP/2') && seen[0] === 200
  assert.ok(seen === 'broken' || seen[0] === 502 || passes, `${what}: ${seen}`)
}

const sending =
  (attack: Attack) =>
  ({ send, stream }: RawRequest): void =>
    send(...attack(stream))
const each = (attacks: Readonly<Record<string, Attack>>) =>
  Object.fromEntries(Object.entries(attacks).map(([name, attack]) => [name, sending(attack)]))

test('a response that HTTP/2 does not allow fails once, and no other request of its connection', async (t) => {
  await tryEach(t, each(invalid), { check: assertFailed, others: 1 })
})

test('an answer that ends its connection fails once, and other requests are sent again', async (t) => {
  await tryEach(t, each(fatal), { check: assertFailed, others: 2 })
})

test('an answer that no client could read in two ways passes without its invalid parts', async (t) => {
  await tryEach(t, each(passing), { check: (what, seen) => assert.deepEqual(seen, [200, 'hello'], what), others: 1 })
})

const seconds = (count: number) => ({ rules: { readTimeoutMs: count * 1_000 } })

test('an application that accepts no streams is not asked without end', async (t) => {
  const settings = Buffer.concat([withoutTable, Buffer.from([0, 3, 0, 0, 0, 0])])
  const { clients, server, bed } = await attacked(t, () => {}, { settings })
  for (const ask of Object.values(clients)) assert.equal((await ask('/next'))[0], 502)
  assert.ok(server.connections.length <= 40, `${server.connections.length} connections`)
  await until('the connections are closed', () => server.connections.every(({ socket }) => socket.destroyed))
  await untilIdle(bed)
})

test('an application that sends no settings is not waited for longer than for a response', async (t) => {
  const { clients, server, bed } = await attacked(t, () => {}, { settings: null, ...seconds(1) })
  for (const ask of Object.values(clients)) assert.equal((await ask('/next'))[0], 504)
  assert.ok(server.connections.length <= 4)
  await untilIdle(bed)
})

test('a connection whose application stops reading is left, and closed', async (t) => {
  const { clients, server, bed } = await attacked(t, ({ socket }) => socket.pause(), seconds(1))
  const ask = clients['GET over HTTP/1.1'] ?? assert.fail()
  assert.equal((await ask('/attack'))[0], 504)
  const [stuck] = server.connections
  assert.ok(stuck)
  for (let count = 0; count < 3; count++) assert.deepEqual(await ask('/next'), [200, '/next'])
  assert.equal(server.connections.length, 2)
  stuck.socket.resume()
  await until('the connection is closed', () => stuck.socket.destroyed, { limitMs: 20_000 })
  await untilIdle(bed)
})

test('a slow application keeps its connection if it still reads', async (t) => {
  const { clients, server } = await attacked(t, () => {}, seconds(1))
  const ask = clients['GET over HTTP/1.1'] ?? assert.fail()
  assert.equal((await ask('/attack'))[0], 504)
  await until('the application has replied to a ping', () =>
    server.connections[0]?.frames.some(({ type }) => type === 6),
  )
  assert.deepEqual(await ask('/next'), [200, '/next'])
  assert.equal(server.connections.length, 1)
})

test('a window that never opens ends an upload, whose bytes stay with the client', async (t) => {
  const settings = Buffer.concat([withoutTable, Buffer.from([0, 4, 0, 0, 0, 0])])
  const { bed, server } = await attacked(t, () => {}, { settings, ...seconds(1) })
  const size = moreThanBuffers
  const start = `POST ${padded('/attack')} HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: ${size}\r\n\r\n`
  const socket = bed.raw(start)
  socket.write(Buffer.alloc(size))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await until('the upload has begun', () => server.requests.length > 0)
  await sleep(500)
  assert.ok(socket.writableLength > size / 4, 'most of it is still with the client')
  // HAProxy closes the connection at once, and a client that writes may notice that first.
  const isLeft = () => beds.haproxy !== undefined && socket.destroyed
  await until('the answer has arrived', () => text.includes('HTTP/1.1 504 ') || isLeft())
  socket.destroy()
  await untilIdle(bed)
})

test('a client that does not read holds up no other request of the same connection', async (t) => {
  const { bed, clients, server } = await attacked(t, ({ send, stream }) => {
    send(head(stream))
    for (let count = 0; count < 16; count++) send(data(stream, 'a'.repeat(16_000)))
  })
  const slow = Array.from({ length: 10 }, () => {
    const socket = bed.raw(`GET ${padded('/attack')} HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)
    socket.pause()
    return socket
  })
  await until('the others wait', () => server.requests.length === slow.length)
  for (const ask of Object.values(clients)) assert.deepEqual(await ask('/next'), [200, '/next'])
  assert.equal(server.connections.length, 1)
  for (const socket of slow) socket.destroy()
  await untilIdle(bed)
})

const bodyOf = ({ frames, stream }: RawRequest) =>
  frames.filter((one) => one.stream === stream && one.type === types.data)

/** Answers with the body of a request, once that has arrived. */
async function echo(request: RawRequest): Promise<void> {
  const isWhole = () => request.isEnded || bodyOf(request).some(({ flags: set }) => (set & flags.endStream) !== 0)
  await until('the request is whole', isWhole)
  const body = Buffer.concat(bodyOf(request).map(({ payload }) => payload))
  request.send(...response(request.stream, `got ${body}`))
}

test('no request is lost that its application has not processed', async (t) => {
  let [first, code, attempts] = [0, 0, 0]
  const { clients, bed, server } = await attacked(t, (request) => {
    attempts++
    if (request.number <= first) request.send(goaway(request.stream - 2, code))
    else echo(request).catch(() => request.socket.destroy())
  })
  for (const one of [0, 2, 11]) {
    code = one
    for (const [name, ask] of Object.entries(clients)) {
      assert.deepEqual(await ask('/next'), [200, '/next'])
      first = server.connections.length - 1
      attempts = 0
      const seen = await ask('/attack')
      assert.deepEqual([...seen, attempts], [200, name.startsWith('POST') ? 'got body' : 'got ', 2], `${code} ${name}`)
    }
  }
  await untilIdle(bed)
})

test('an upload continues over another connection if its application has not processed it', async (t) => {
  const { bed, server } = await attacked(t, (request) => {
    if (request.number > 0) echo(request).catch(() => request.socket.destroy())
  })
  const socket = bed.raw(`POST ${padded('/attack')} HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 9\r\n\r\nhalf`)
  let seen = ''
  socket.on('data', (chunk) => {
    seen += chunk
  })
  const begun = await until('the upload has begun', () => server.requests[0])
  await until('a part has arrived', () => bodyOf(begun).length > 0)
  begun.send(goaway(0, 0))
  await until('the request was sent again', () => server.requests.length === 2)
  socket.write(' rest')
  await until('the answer is whole', () => seen.includes('got half rest'))
  await untilIdle(bed)
})

test('a client gets the first hints of a response, and not those of a flood', async (t) => {
  const attack = passing['a thousand hints'] ?? assert.fail()
  const { bed } = await attacked(t, sending(attack))
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, { servername: host, ca: selfSigned.cert })
  endAfter(t, session)
  const stream = session.request({ ':authority': host, ':path': padded('/attack') })
  let seen = 0
  stream.on('headers', () => seen++)
  assert.equal(await text(stream), 'hello')
  // HAProxy asks the router over HTTP/1.1, whose clients get no hints.
  assert.equal(seen, beds.haproxy ? 0 : limits.hintsPerResponse)
})
