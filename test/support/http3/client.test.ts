import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { selfSigned, wildcard } from '../self-signed.ts'
import { until } from '../until.ts'
import { type Http3Client, missingHttp3, startHttp3Client } from './client.ts'
import { missingEarlyAnswers, missingEarlyData, missingQuic, startPlainFront } from './plain-front.ts'

const skip = (await missingQuic()) ?? (await missingHttp3()) ?? false
const skipEarlyData = skip || ((await missingEarlyData()) ?? false)
const skipEarly = skip || ((await missingEarlyAnswers()) ?? false)

test('ask returns the status, the headers and the body of an answer', { skip }, async (t) => {
  const { client, port } = await furnish(t, (request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.end(`${request.method} ${request.url} ${request.headers.host} ${request.headers['x-more']}`)
  })
  const { status, headers, body, trailers, early } = await client.ask({
    path: '/a?b=c',
    headers: { 'x-more': ['one', 'two'] },
  })
  assert.deepEqual(
    { status, body, trailers, early },
    {
      status: 200,
      body: `GET /a?b=c shop.apps.far.test:${port} one, two`,
      trailers: {},
      early: [],
    },
  )
  assert.equal(headers['set-cookie'], 'a=1, b=2')
})

test('ask sends a body with and without its length', { skip }, async (t) => {
  const { client } = await furnish(t, async (request, response) => {
    const { 'content-length': length = 'unknown' } = request.headers
    response.end(`${request.method} ${length} ${await text(request)}`)
  })
  assert.equal((await client.ask({ method: 'POST', body: 'apples' })).body, 'POST 6 apples')
  assert.equal((await client.ask({ method: 'PUT', body: 'pears', length: false })).body, 'PUT unknown pears')
  const large = await client.ask({ method: 'POST', body: Buffer.alloc(300_000, 'x') })
  assert.equal(large.body.length, 'POST 300000 '.length + 300_000)
})

test('connect opens a new connection and resumes the session', { skip }, async (t) => {
  const { client } = await furnish(t, (_request, response) => void response.end('ready'))
  assert.deepEqual(await client.connect(), { alpn: 'h3', resumed: false, used0rtt: false })
  assert.equal((await client.ask()).body, 'ready')
  assert.deepEqual(await client.connect(), { alpn: 'h3', resumed: true, used0rtt: false })
  await client.close()
  assert.equal((await client.ask()).body, 'ready')
})

test('connect sends early data when the ticket allows it', { skip: skipEarlyData }, async (t) => {
  const answer: RequestListener = (_request, response) => void response.end('ready')
  const { client } = await furnish(t, answer, { allowsEarlyData: true })
  assert.equal((await client.ask()).body, 'ready')
  assert.deepEqual(await client.connect(), { alpn: 'h3', resumed: true, used0rtt: true })
  assert.equal((await client.ask()).body, 'ready')
})

test('ask resets a request that is cancelled', { skip }, async (t) => {
  const closed: boolean[] = []
  const { client } = await furnish(t, (request, response) => {
    if (request.url === '/slow') response.on('close', () => closed.push(response.writableFinished))
    else response.end('quick')
  })
  await assert.rejects(client.ask({ path: '/slow', cancelAfterMs: 100 }), /^Error: the client reset the stream: H3_REQ/)
  await until('the application sees the end', () => closed.length > 0)
  assert.deepEqual(closed, [false])
  assert.equal((await client.ask()).body, 'quick')
})

test('ask sends many requests over one connection', { skip }, async (t) => {
  const { client } = await furnish(t, (request, response) => void response.end(request.url))
  const paths = Array.from({ length: 200 }, (_, at) => `/${at}`)
  const answers = await Promise.all(paths.map((path) => client.ask({ path })))
  assert.deepEqual(
    answers.map(({ body }) => body),
    paths,
  )
})

test('ask sends and returns trailers', { skip }, async (t) => {
  const { client } = await furnish(t, async (request, response) => {
    response.writeHead(200, { trailer: 'x-sum' })
    response.write(await text(request))
    response.addTrailers({ 'x-sum': `${request.trailers['x-seen']}` })
    response.end()
  })
  const { body, trailers } = await client.ask({
    method: 'POST',
    body: 'apples',
    length: false,
    headers: { trailer: 'x-seen' },
    trailers: { 'x-seen': '6' },
  })
  assert.deepEqual({ body, trailers }, { body: 'apples', trailers: { 'x-sum': '6' } })
})

test('ask reports early answers', { skip: skipEarly }, async (t) => {
  const { client } = await furnish(t, (_request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.end('late')
  })
  const { status, early, body } = await client.ask()
  assert.deepEqual({ status, early, body }, { status: 200, early: [103], body: 'late' })
})

test('raw reports how the server ended a stream or the connection', { skip }, async (t) => {
  const { client } = await furnish(t, (_request, response) => void response.end('ready'))
  const raw = async (bytes: readonly number[], options: Parameters<Http3Client['raw']>[1]) => {
    const { bytes: answer, ...errors } = await client.raw(Uint8Array.from(bytes), options)
    return { answer: answer.length, ...errors }
  }
  const [both, one] = [{ end: true }, { kind: 'unidirectional', end: true }] as const
  const dataBeforeHeaders = [0x00, 0x01, 0x78]
  assert.deepEqual(await raw(dataBeforeHeaders, both), { answer: 0, connectionError: 0x105 })
  const noFields = [0x01, 0x02, 0x00, 0x00]
  assert.deepEqual(await raw(noFields, both), { answer: 0, streamError: 0x10e })
  const secondControlStream = [0x00]
  assert.deepEqual(await raw(secondControlStream, one), { answer: 0, connectionError: 0x103 })
  const unknownKind = [0x21]
  assert.deepEqual(await raw(unknownKind, one), { answer: 0 })
  assert.equal((await client.ask()).body, 'ready')
})

test('load counts answers by status', { skip }, async (t) => {
  const { client } = await furnish(t, (request, response) => {
    response.statusCode = request.url === '/absent' ? 404 : 200
    response.end()
  })
  const { answered, failed, seconds, p99Ms } = await client.load({ count: 500, open: 20, connections: 4 })
  assert.deepEqual({ answered, failed }, { answered: { 200: 500 }, failed: [] })
  assert.ok(seconds > 0 && p99Ms > 0)
  const absent = await client.load({ count: 3, open: 1, connections: 1, path: '/absent' })
  assert.deepEqual(absent.answered, { 404: 3 })
})

test('load returns failures when the certificate is not trusted', { skip }, async (t) => {
  const { port } = await furnish(t, (_request, response) => void response.end())
  const client = await startHttp3Client(t, { port, serverName: 'shop.apps.far.test', ca: selfSigned.cert })
  const { answered, failed = [] } = (await client?.load({ count: 2, open: 1, connections: 1 })) ?? {}
  assert.deepEqual(answered, {})
  assert.equal(failed.filter((reason) => reason.includes('certificate')).length, 2)
})

/** Starts an application, HAProxy before it, and a client of that. */
async function furnish(
  t: TestContext,
  listener: RequestListener,
  settings: { readonly allowsEarlyData?: boolean } = {},
): Promise<{ client: Http3Client; port: number }> {
  const server = createServer(listener)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  t.after(() => void server.close().closeAllConnections())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const certificate = wildcard.cert + wildcard.key
  const { port } = await startPlainFront(t, { application: address.port, certificate, ...settings })
  const client = await startHttp3Client(t, { port, serverName: 'shop.apps.far.test', ca: wildcard.cert })
  assert.ok(client)
  return { client, port }
}
