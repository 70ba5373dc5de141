import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import { selfSigned } from '../../../../test/support/self-signed.ts'
import { createAddressGuard } from '../../../lib/address.ts'
import { Secret } from '../../../lib/secret.ts'
import { KubeConnection } from './connection.ts'
import { createKube, KubeError, kinds } from './index.ts'

// An API server belongs to an organization, which may answer as it likes.

type Answer = (request: IncomingMessage, response: ServerResponse) => void
let answer: Answer = () => {}
let upgrade: (request: IncomingMessage, socket: Duplex) => void = () => {}
const { cert: authority } = selfSigned
const server = createServer(selfSigned, (request, response) => answer(request, response))
server.on('upgrade', (request, socket) => upgrade(request, socket))
await once(server.listen(0, '127.0.0.1'), 'listening')
const { port } = server.address() as AddressInfo
const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
const access = async () => ({ server: `https://127.0.0.1:${port}`, authority, serverName: 'outside.invalid' })
const kube = createKube({ access, guard })
after(() => {
  kube.close()
  server.close().closeAllConnections()
})
const { signal } = new AbortController()
const json =
  (body: unknown): Answer =>
  (_, response) =>
    response.end(JSON.stringify(body))

/** Each answer, and the reason that the client reports. */
const answers: readonly (readonly [string, Answer, string])[] = [
  ['text with status 503', (_, response) => response.writeHead(503).end('service unavailable'), 'Status503'],
  ['no JSON', (_, response) => response.end('<html>'), 'Unreadable'],
  ['null', json(null), 'Unreadable'],
  ['an empty object', json({}), 'Unreadable'],
  ['a list of nothing', json({ items: [null], metadata: {} }), 'Unreadable'],
  ['an object without a name', json({ items: [{ metadata: {} }], metadata: {} }), 'Unreadable'],
  [
    'an object whose name is not one',
    json({ items: [{ metadata: { name: '../secrets' } }], metadata: {} }),
    'Unreadable',
  ],
  ['a list without an end', json({ items: [], metadata: { continue: 'more' } }), 'TooLong'],
]
test('the log of a pod without a node is empty', async () => {
  answer = (_, response) => response.writeHead(204).end()
  const place = { namespace: 'a', pod: 'b', container: 'main' }
  assert.equal((await (await kube.log(place, { follow: false }, signal)).toArray()).length, 0)
})

for (const [what, given, reason] of answers) {
  test(`${what} is an error with a reason`, async () => {
    answer = given
    await assert.rejects(kube.list(kinds.pod, {}, signal), (error) => {
      assert.ok(error instanceof KubeError, String(error))
      assert.equal(error.reason, reason)
      return true
    })
  })
}

test('an error says what the server asks for, on one line without control characters', async () => {
  const message = `wait\n\u001b[31m\u0000${'x'.repeat(5_000)}`
  const body = JSON.stringify({ kind: 'Status', message, reason: 'TooManyRequests' })
  answer = (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(body)
  await assert.rejects(kube.list(kinds.pod, {}, signal), (error) => {
    assert.ok(error instanceof KubeError, String(error))
    assert.match(error.message, /^wait \?\[31m\?x{900,990}$/)
    assert.deepEqual([error.reason, error.retryAfterMs], ['TooManyRequests', 7_000])
    return true
  })
})

const watched = async (wanted = signal, client = kube): Promise<string[]> => {
  const seen: string[] = []
  for await (const { type } of client.watch(kinds.pod, {}, wanted)) seen.push(type)
  return seen
}

/** Each line of a watch that is no change of an object. */
const lines = [
  'TLS_CERT_EXPIRED',
  'null',
  '{"type":"ADDED"}',
  '{"type":"ADDED","object":{"metadata":{}}}',
  '{"type":"ADDED","object":{"metadata":{"name":"a","namespace":"../b"}}}',
  '{"type":"CHANGED","object":{"metadata":{"name":"a"}}}',
  '{"type":"BOOKMARK","object":{"metadata":null}}',
] as const
for (const line of lines) {
  test(`the event ${line} of a watch is an error that another try may not have`, async () => {
    answer = (_, response) => response.end(`${line}\n`)
    await assert.rejects(watched(), { reason: 'Unreadable' })
  })
}

test('a watch that is cut in an object says that the connection broke', async () => {
  answer = (request, response) => {
    response.write('{"type":"ADDED","obj')
    setImmediate(() => request.socket.destroy())
  }
  await assert.rejects(watched(), { reason: 'Cut', message: /^the connection to the API server broke/ })
})

test('a watch without a sign of life is ended', async (t) => {
  const impatient = createKube({ access, guard, watches: { silenceMs: 50, lastMs: 60_000 } })
  t.after(() => impatient.close())
  answer = (_, response) => response.flushHeaders()
  await assert.rejects(watched(signal, impatient), { reason: 'Silent', message: /no longer sends changes/ })
})

test('a watch that brings only parts of an event is ended', async (t) => {
  const impatient = createKube({ access, guard, watches: { silenceMs: 60_000, lastMs: -14_700 } })
  t.after(() => impatient.close())
  answer = (_, response) => {
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  }
  await assert.rejects(watched(signal, impatient), { reason: 'Silent', message: /does not end a watch/ })
})

test('a refusal of a watch that trickles is not waited for', async (t) => {
  const connection = new KubeConnection({ access, guard })
  t.after(() => connection.close())
  answer = (_, response) => void response.writeHead(500).write('{')
  const wish = { path: '/api/v1/pods', timeoutMs: 300 }
  await assert.rejects(connection.stream(wish, signal), { reason: 'Cut', message: /does not answer in time/ })
})

test('a name that leads elsewhere after its check is not connected to', async (t) => {
  const addresses = [['127.0.0.1'], ['169.254.169.254']]
  const rebinding = createAddressGuard({
    allowedPrivateCidrs: ['127.0.0.0/8'],
    resolve: async () => addresses.shift() ?? [],
    ownAddresses: () => [],
  })
  const server = `https://outside.invalid:${port}`
  const client = createKube({ access: async () => ({ server, authority }), guard: rebinding })
  t.after(() => client.close())
  answer = (request, response) => {
    response.setHeader('connection', 'close')
    json({ items: [], metadata: {} })(request, response)
  }
  await client.list(kinds.pod, {}, signal)
  await assert.rejects(client.list(kinds.pod, {}, signal), { reason: 'Refused' })
})

test('pages of large objects are shorter, and a page that is always too long is an error', async () => {
  const limits: string[] = []
  const large = (most: number): Answer => {
    return (request, response) => {
      const limit = new URL(request.url ?? '', 'https://server').searchParams.get('limit') ?? ''
      limits.push(limit)
      const items = [{ metadata: { name: 'large', annotations: { a: 'x'.repeat(9 * 1024 * 1024) } } }]
      json({ items: Number(limit) > most ? items : [{ metadata: { name: 'small' } }], metadata: {} })(request, response)
    }
  }
  answer = large(10)
  assert.equal((await kube.list(kinds.pod, {}, signal)).items[0]?.metadata.name, 'small')
  assert.deepEqual(limits, ['100', '10'])
  answer = large(0)
  await assert.rejects(kube.list(kinds.pod, {}, signal), { reason: 'TooLong' })
  assert.deepEqual(limits.slice(2), ['100', '10', '1'])
})

test('an answer that is cut is an error with a reason', async () => {
  answer = (request, response) => {
    response.writeHead(200, { 'content-length': 1_000 }).write('{"items":[')
    setImmediate(() => request.socket.destroy())
  }
  await assert.rejects(kube.list(kinds.pod, {}, signal), KubeError)
})

/** Accepts a WebSocket and sends messages in the same packet. */
const accept =
  (...messages: readonly Buffer[]) =>
  (request: IncomingMessage, socket: Duplex): void => {
    socket.on('error', () => {})
    // The client says that it closes the connection.
    socket.once('data', () => socket.end())
    const given = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
    const head = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${createHash('sha1').update(given).digest('base64')}`,
      'Sec-WebSocket-Protocol: v5.channel.k8s.io',
    ]
    const frames = messages.flatMap((message) => [Buffer.from([0x82, message.length]), message])
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ...frames]))
  }
const message = (channel: number, text: string): Buffer => Buffer.concat([Buffer.from([channel]), Buffer.from(text)])
const place = { namespace: 'n', pod: 'p', container: 'c' }
const streams = { hasTerminal: false, hasInput: false }

test('messages in the packet that opens a connection are read', async () => {
  upgrade = accept(message(1, 'early'), message(3, '{"status":"Success"}'))
  const running = await kube.exec(place, ['true'], streams, signal)
  assert.equal(await running.exitCode(), 0)
  assert.equal(Buffer.concat(await running.stdout.toArray()).toString(), 'early')
})

test('a port that fails before anything listens to its stream ends nothing else', async () => {
  upgrade = accept(message(0, '\0\0'), message(1, '\0\0nothing listens'))
  const stream = await kube.portForward(place, 80, signal)
  if (!stream.closed) await once(stream, 'close').catch(() => {})
  assert.match(String(stream.errored), /nothing listens/)
})

test('a connection that breaks after it was opened is an error', async () => {
  upgrade = (request, socket) => {
    accept()(request, socket)
    socket.end(Buffer.from([0xff, 0xff, 0xff, 0xff]))
  }
  const running = await kube.exec(place, ['true'], streams, signal)
  await assert.rejects(running.exitCode(), KubeError)
})

test('credentials that are refused and cannot be read again are an error that says both', async () => {
  answer = (_, response) => response.writeHead(401).end('{}')
  let reads = 0
  const readToken = async (): Promise<Secret> => {
    reads += 1
    if (reads > 1) throw new Error('the file is gone')
    return new Secret('abc')
  }
  const other = createKube({ access: async () => ({ ...(await access()), readToken }), guard })
  try {
    await assert.rejects(other.list(kinds.pod, {}, signal), (error) => {
      assert.ok(error instanceof KubeError, String(error))
      assert.equal(error.status, 401)
      assert.match(error.message, /cannot be read: the file is gone/)
      return true
    })
  } finally {
    other.close()
  }
})
