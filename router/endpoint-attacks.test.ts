import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect } from 'node:http2'
import test, { type TestContext } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { block, types } from '../test/support/http2-frames.ts'
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
} from '../test/support/raw-http2-server.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { beds, type TestBed, testBed } from './test-bed.ts'

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
async function attacked(t: TestContext, attack: (request: RawRequest) => void): Promise<Attacked> {
  const bed = await testBed(t, { tlsPort: 0 })
  const open: RawRequest[] = []
  const server = await startRawHttp2(t, {
    answer: (request) => {
      if (request.path === '/attack') attack(request)
      else if (request.path === '/open') open.push(request)
      else request.send(...response(request.stream, request.path))
    },
  })
  const endpoints = [{ address: '127.0.0.1', port: server.port }]
  const common = { service: 'service', name: 'shop', speaksHttp2: true, endpoints }
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

/** Tries each attack with each client. */
async function tryEach(
  t: TestContext,
  attacks: Readonly<Record<string, (request: RawRequest) => void>>,
  check: (name: string, seen: Seen) => void,
): Promise<void> {
  let attack = (_request: RawRequest): void => {}
  const { bed, clients } = await attacked(t, (request) => attack(request))
  for (const [name, attempt] of Object.entries(attacks)) {
    attack = attempt
    for (const [client, ask] of Object.entries(clients)) {
      const what = `${name}, ${client}`
      const seen = await Promise.race([ask('/attack'), limit(what)])
      check(what, seen)
      assert.deepEqual(await ask('/next'), [200, '/next'], what)
    }
  }
  await untilIdle(bed)
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

const codes = [0, 1, 2, 7, 8, 11, 99]

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
  await tryEach(t, Object.fromEntries(attacks), (what, seen) => {
    // HAProxy 2.6 ends such a response over HTTP/2 like a whole one.
    const passes = beds.haproxy && /body.* HTTP\/2$/.test(what) && seen[1] === 'hel'
    assert.ok(seen === 'broken' || seen[0] === 502 || passes, `${what}: ${seen}`)
  })
})

test('a response that was complete before its stream was reset is whole', async (t) => {
  const attacks = codes.map((code) => {
    const attack = ({ send, stream }: RawRequest): void => send(...response(stream, 'hello'), reset(stream, code))
    return [`reset ${code}`, attack] as const
  })
  await tryEach(t, Object.fromEntries(attacks), (what, seen) => assert.deepEqual(seen, [200, 'hello'], what))
})
