import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import test, { type TestContext } from 'node:test'
import {
  type handleBidiStreamingCall,
  type handleClientStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import type { Route } from '@quayside/contract/routes.ts'
import { type TextsClient, textsClient, textsService } from '../test/support/grpc.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { until } from '../test/support/until.ts'
import { Canary } from './canaries.ts'
import { CanaryTry } from './canary-try.ts'
import { portOf, type TestBed, testBed } from './test-bed.ts'

const host = 'outside.invalid'
const tls = { from: 'platform', redirects: true } as const

interface Application {
  readonly port: number
  readonly server: Server
  /** The open calls of `repeat` that never end. */
  readonly open: Set<string>
}

/** Starts a gRPC server without TLS that answers with its name. */
async function startTexts(t: TestContext, name: string): Promise<Application> {
  const open = new Set<string>()
  const unary: handleUnaryCall<string, string> = ({ request, metadata }, done) => {
    if (request === 'fail') {
      const trailers = new Metadata()
      trailers.set('x-why', 'because')
      done({ code: status.FAILED_PRECONDITION, details: 'not now', metadata: trailers })
    } else if (/^code \d+$/.test(request)) done({ code: Number(request.slice(5)), details: 'asked for' })
    else if (request === 'wait') open.add(request)
    else done(null, `${name} ${request} ${metadata.get('x-one')}`.trim())
  }
  const collect: handleClientStreamingCall<string, string> = (call, done) => {
    const texts: string[] = []
    call.on('data', (text: string) => texts.push(text))
    call.on('end', () => done(null, texts.join()))
  }
  const repeat: handleServerStreamingCall<string, string> = (call) => {
    const count = Number(call.request)
    if (Number.isNaN(count)) {
      open.add(call.request)
      call.on('cancelled', () => open.delete(call.request))
      call.write('begun')
      return
    }
    for (let index = 0; index < count; index++) call.write(`${index}`)
    call.end()
  }
  const converse: handleBidiStreamingCall<string, string> = (call) => {
    call.on('data', (text: string) => call.write(text.toUpperCase()))
    call.on('end', () => call.end())
  }
  const server = new Server()
  server.addService(textsService, { unary, collect, repeat, converse })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error)
      else resolve(bound)
    }),
  )
  t.after(() => server.forceShutdown())
  return { port, server, open }
}

async function grpcBed(
  t: TestContext,
  ports: readonly number[],
  route: Partial<Route> = {},
): Promise<{
  bed: TestBed
  client: TextsClient
  lead(ports: readonly number[], route?: Partial<Route>): Promise<void>
}> {
  const bed = await testBed(t, { tlsPort: 0 })
  const lead = (to: readonly number[], more: Partial<Route> = {}) =>
    bed.lead(to, { host, tls, speaksHttp2: true, ...more })
  await lead(ports, route)
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const client = textsClient({ port: bed.router.tlsPort ?? 0, host, root: selfSigned.cert })
  t.after(async () => client.close())
  return { bed, client, lead }
}

test('all four kinds of calls pass', async (t) => {
  const { port } = await startTexts(t, 'one')
  const { client } = await grpcBed(t, [port])
  assert.equal(await client.unary('hello', { metadata: { 'x-one': 'meta' } }), 'one hello meta')
  assert.equal(await client.collect(['a', 'b', 'c']), 'a,b,c')
  assert.deepEqual(
    await client.repeat('1000'),
    Array.from({ length: 1000 }, (_, index) => `${index}`),
  )
  assert.deepEqual(await client.converse(['a', 'b', 'c']), ['A', 'B', 'C'])
  assert.equal(await client.unary('x'.repeat(1_000_000)), `one ${'x'.repeat(1_000_000)}`)
})

test('the status and the trailers of the application reach the client', async (t) => {
  const { port } = await startTexts(t, 'one')
  const { client } = await grpcBed(t, [port])
  await assert.rejects(client.unary('fail'), (error: { code: number; details: string; metadata: Metadata }) => {
    assert.deepEqual([error.code, error.details], [status.FAILED_PRECONDITION, 'not now'])
    assert.deepEqual(error.metadata.get('x-why'), ['because'])
    return true
  })
})

test('a call of a new version that fails at the server counts against it, and one of a client does not', async (t) => {
  const { port } = await startTexts(t, 'next')
  const canary = { release: 'next', percent: 100, endpoints: [{ address: '127.0.0.1', port }] }
  const { bed, client } = await grpcBed(t, [port], { canary })
  const counts = async () => {
    const { body } = await bed.tell('GET', '/canaries')
    const [{ requests, failed }] = Object(body['canaries'])
    return [requests, failed]
  }
  await client.unary('a')
  await client.repeat('3')
  assert.deepEqual(await counts(), [2, 0])
  const own = [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16]
  for (const code of own) await assert.rejects(client.unary(`code ${code}`), { code })
  assert.deepEqual(await counts(), [2 + own.length, 0])
  const faults = [2, 13, 14, 15]
  for (const code of faults) await assert.rejects(client.unary(`code ${code}`), { code })
  assert.deepEqual(await counts(), [2 + own.length + faults.length, faults.length])
})

test('a response of gRPC without a status counts against a new version only if its HTTP status is 200', () => {
  const rawHeaders = ['content-type', 'application/grpc']
  const failedOf = (status: number, answer: object): number => {
    const canary = new Canary('service', 'next', { percent: 100 })
    new CanaryTry(canary).ended(status, { rawHeaders, ...answer })
    return canary.failed
  }
  assert.deepEqual(
    [200, 415, 400, 503].map((status) => failedOf(status, {})),
    [1, 0, 0, 1],
  )
  assert.equal(failedOf(200, { rawTrailers: ['GRPC-Status', '13'] }), 1)
  assert.equal(failedOf(200, { rawTrailers: ['grpc-status', '0'] }), 0)
  assert.equal(failedOf(200, { rawHeaders: [...rawHeaders, 'grpc-status', '14'] }), 1)
  assert.equal(failedOf(200, { rawHeaders: ['content-type', 'application/grpc-web+proto'] }), 0)
})

test('a cancelled call and a deadline end the call at the application', async (t) => {
  const { port, open } = await startTexts(t, 'one')
  const { client } = await grpcBed(t, [port])
  const call = client.begin('forever')
  await until('the call is open', () => open.has('forever'))
  call.cancel()
  assert.equal((await call.status).code, status.CANCELLED)
  await until('the call has ended', () => !open.has('forever'))
  await assert.rejects(client.unary('wait', { deadlineMs: 300 }), { code: status.DEADLINE_EXCEEDED })
})

test('failures of the router are statuses of gRPC', async (t) => {
  const { port } = await startTexts(t, 'one')
  const { client, lead } = await grpcBed(t, [port])
  await lead([], { reason: 'it is stopped' })
  await assert.rejects(client.unary('a'), { code: status.UNAVAILABLE, details: /shop is not available: it is stopped/ })
  await lead([1])
  await assert.rejects(client.unary('a'), { code: status.UNAVAILABLE, details: /could be reached|ended the/ })
  await lead([port], { rules: { deny: ['127.0.0.0/8'] } })
  await assert.rejects(client.unary('a'), { code: status.PERMISSION_DENIED })
  await lead([port], { host: 'other.invalid' })
  await assert.rejects(client.unary('a'), { code: status.UNIMPLEMENTED, details: /No application answers/ })
  await lead([port], { rules: { maxBodyBytes: 1000 } })
  await assert.rejects(client.unary('a'.repeat(2000)), { code: status.RESOURCE_EXHAUSTED })
  await lead([port])
  assert.equal(await client.unary('a'), 'one a')
})

test('a call waits for a service that wakes up', async (t) => {
  const { port } = await startTexts(t, 'one')
  const { bed, client, lead } = await grpcBed(t, [], { asleep: true, reason: 'it is asleep' })
  const answer = client.unary('a')
  const { body } = await bed.tell('POST', '/wakes', { sequence: 0, timeoutMs: 10_000 })
  assert.deepEqual(body['services'], ['service'])
  await lead([port])
  assert.equal(await answer, 'one a')
})

test('an application that dies ends its calls as unavailable, and the next ones reach another', async (t) => {
  const [one, two] = [await startTexts(t, 'one'), await startTexts(t, 'two')]
  const { client, lead } = await grpcBed(t, [one.port])
  const call = client.begin('forever')
  await until('the call is open', () => one.open.has('forever'))
  one.server.forceShutdown()
  assert.equal((await call.status).code, status.UNAVAILABLE)
  await lead([one.port, two.port])
  for (let count = 0; count < 4; count++) assert.equal(await client.unary('a'), 'two a')
})

test('no call fails while the application is replaced again and again', async (t) => {
  let current = await startTexts(t, '0')
  const { bed, client, lead } = await grpcBed(t, [current.port])
  let running = true
  const seen = new Map<string, number>()
  const call = async (): Promise<void> => {
    while (running) {
      const name = (await client.unary('a')).split(' ')[0] ?? ''
      seen.set(name, (seen.get(name) ?? 0) + 1)
      assert.deepEqual(await client.converse(['a', 'b']), ['A', 'B'])
    }
  }
  const calls = Promise.all(Array.from({ length: 4 }, call))
  for (let swap = 1; swap <= 5; swap++) {
    await until('the application answers', () => (seen.get(String(swap - 1)) ?? 0) >= 20)
    const next = await startTexts(t, String(swap))
    await lead([next.port])
    const endpoints = [{ address: '127.0.0.1', port: current.port }]
    assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 10_000 })).body, { open: 0 })
    current.server.forceShutdown()
    current = next
  }
  running = false
  await calls
})

test('calls share connections up to the limit of the application, which close when they are idle', async (t) => {
  const sessions = new Set<ServerHttp2Session>()
  let most = 0
  const application = createHttp2Server({ settings: { maxConcurrentStreams: 2 } }, (_request, response) => {
    setTimeout(() => response.end('answered'), 200)
  })
  application.on('session', (session) => {
    sessions.add(session)
    most = Math.max(most, sessions.size)
    session.once('close', () => sessions.delete(session))
  })
  await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
  t.after(async () => void application.close())
  const { bed } = await grpcBed(t, [portOf(application)], { rules: { idleTimeoutMs: 500 }, tls: undefined } as object)
  const ask = async () => {
    const { status: code, body } = await bed.ask({ host })
    assert.deepEqual([code, body], [200, 'answered'])
  }
  await Promise.all(Array.from({ length: 6 }, ask))
  assert.equal(most, 3)
  await until('the idle connections are closed', () => sessions.size === 0)
  await ask()
})

test('an application that speaks no HTTP/2 is not available', async (t) => {
  const bed = await testBed(t)
  const application = await bed.application((_request, response) => response.end('over HTTP/1.1'))
  const { client } = await grpcBed(t, [portOf(application)])
  await assert.rejects(client.unary('a'), { code: status.UNAVAILABLE, details: /shop ended the connection/ })
})

test('a request with an upgrade is refused where the application speaks HTTP/2', async (t) => {
  const { port } = await startTexts(t, 'one')
  const { bed } = await grpcBed(t, [port], { tls: undefined } as object)
  const socket = bed.raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 400 /)
})
