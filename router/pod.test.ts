import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect as connectSession } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { gzipSync } from 'node:zlib'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { keptFiles } from '@quayside/contract/kept-parts.ts'
import type { RouteTable } from '@quayside/contract/routes.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { textsClient, textsService } from '../test/support/grpc.ts'
import { endAfter } from '../test/support/http2-session.ts'
import { proxyHeaderOf } from '../test/support/proxy-header.ts'
import { parseConfig } from './config.ts'
import { silentLog } from './log.ts'
import { Readiness } from './readiness.ts'
import { type RunningRouter, startRouter } from './router.ts'
import { portOf, testBed, textOf } from './test-bed.ts'

const key = 'k'.repeat(43)
const route = (port: number) => ({
  host: 'app.localhost',
  service: 's',
  name: 'shop',
  endpoints: [{ address: '127.0.0.1', port }],
})

interface PodBed {
  readonly router: RunningRouter
  /** The status of a request to a path of the probes. */
  probe(path: string): Promise<number>
  tell(path: string, body?: unknown, authorization?: string): Promise<{ status: number; body: string }>
  ask(agent: Agent): Promise<IncomingMessage>
}

const send = (port: number, options: object, body = ''): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, ...options }, resolve)
    sent.on('error', reject)
    sent.end(body)
  })

interface PodOptions {
  readonly stored?: RouteTable
  readonly leaveMs?: number
  /** Networks whose connections begin with a PROXY header. */
  readonly proxies?: readonly string[]
}

/** A router as in a pod, with a stored table. */
async function podBed(
  t: { after(work: () => Promise<void>): void },
  { stored, leaveMs = 0, proxies = [] }: PodOptions = {},
): Promise<PodBed> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-router-'))
  const path = (name: string): string => join(folder, name)
  await writeFile(path('key'), `${key}\n`)
  if (stored) await writeFile(path(keptFiles.whole), gzipSync(JSON.stringify(stored)))
  const [controlPort, readyPort] = [await findFreePort(), await findFreePort()]
  const pod = { controlPort, readyPort, keyFile: path('key'), stored: folder, leaveMs }
  const config = { host: '127.0.0.1', port: 0, control: '', state: path('routes.json'), trusted: [], proxies, pod }
  const router = await startRouter(config, silentLog)
  t.after(async () => {
    await router.stop(0)
    await rm(folder, { recursive: true })
  })
  return {
    router,
    probe: async (at) => {
      const answer = await send(readyPort, { path: at, agent: false })
      answer.resume()
      return answer.statusCode ?? 0
    },
    tell: async (at, body, authorization = `Bearer ${key}`) => {
      const method = body === undefined ? 'GET' : 'PUT'
      const options = { path: at, method, headers: { authorization }, agent: false }
      const answer = await send(controlPort, options, body === undefined ? '' : JSON.stringify(body))
      return { status: answer.statusCode ?? 0, body: await textOf(answer) }
    },
    ask: (agent) => send(router.port, { agent, headers: { host: 'app.localhost' } }),
  }
}

test('a router in a pod answers control requests with its key only', async (t) => {
  const { tell } = await podBed(t)
  assert.equal((await tell('/health')).status, 200)
  for (const wrong of ['', `Bearer ${key}x`, key, `Basic ${key}`]) {
    const answer = await tell('/routes', { version: 1, routes: [] }, wrong)
    assert.equal(answer.status, 401)
  }
  assert.equal(JSON.parse((await tell('/health')).body).version, 0)
})

test('a router in a pod is ready once the control plane has sent a table', async (t) => {
  const { tell, probe } = await podBed(t, { stored: { version: 7, routes: [route(9)] } })
  assert.deepEqual([await probe('/ready'), await probe('/alive')], [503, 200])
  const older = await tell('/routes', { version: 6, routes: [] })
  assert.deepEqual([older.status, JSON.parse(older.body).version, await probe('/ready')], [409, 7, 503])
  assert.equal((await tell('/routes', { version: 8, routes: [] })).status, 200)
  assert.equal(await probe('/ready'), 200)
})

test('a router in a pod becomes ready with a stored table while the control plane is away', () => {
  assert.equal(new Readiness({ hasStored: () => true, waitMs: 0 }).isReady, true)
  assert.equal(new Readiness({ hasStored: () => true, waitMs: 60_000 }).isReady, false)
  assert.equal(new Readiness({ hasStored: () => false, waitMs: 0 }).isReady, false)
  assert.equal(new Readiness({ hasStored: () => true, waitMs: 0, lacksCertificates: () => true }).isReady, false)
})

test('a router in a pod starts without a damaged stored table', async (t) => {
  const { tell } = await podBed(t)
  assert.equal(JSON.parse((await tell('/health')).body).version, 0)
  const folder = await mkdtemp(join(tmpdir(), 'quayside-router-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'key'), key)
  await writeFile(join(folder, keptFiles.whole), 'damaged')
  const [controlPort, readyPort] = [await findFreePort(), await findFreePort()]
  const pod = { controlPort, readyPort, keyFile: join(folder, 'key'), stored: folder, leaveMs: 0 }
  const state = join(folder, 'routes.json')
  const router = await startRouter({ host: '127.0.0.1', port: 0, control: '', state, trusted: [], pod }, silentLog)
  await router.stop(0)
})

test('a leaving router still accepts connections, and ends each after its response', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  const { tell, ask, router } = await podBed(t, { leaveMs: 300 })
  await tell('/routes', { version: 1, routes: [route(portOf(app))] })
  const agent = new Agent({ keepAlive: true })
  t.after(async () => agent.destroy())
  const first = await ask(agent)
  assert.deepEqual([await textOf(first), first.headers.connection], ['ok', 'keep-alive'])
  const left = router.leave()
  for (const own of [agent, new Agent()]) {
    const answer = await ask(own)
    assert.deepEqual([await textOf(answer), answer.headers.connection], ['ok', 'close'])
  }
  await left
  await assert.rejects(ask(new Agent()), /ECONNREFUSED/)
})

test('parseConfig reads the flags of a pod and names the invalid one', () => {
  const flags = ['--state=s', '--control-port=8082', '--control-key=k', '--ready-port=8081', '--stored=t']
  assert.deepEqual(parseConfig([...flags, '--leave-seconds=5']).pod, {
    controlPort: 8082,
    keyFile: 'k',
    readyPort: 8081,
    stored: 't',
    leaveMs: 5_000,
  })
  for (const [index, flag] of ['--control-port=0', '--control-key=', '--ready-port=x', '--stored='].entries()) {
    const name = flag.split('=', 1)[0] ?? ''
    assert.throws(() => parseConfig(flags.with(index + 1, flag)), new RegExp(name))
  }
  assert.throws(() => parseConfig([...flags, '--leave-seconds=-1']), /--leave-seconds/)
})

test('a router in a pod carries gRPC without TLS, and other requests over both versions', async (t) => {
  const texts = new Server()
  texts.addService(
    { unary: textsService.unary },
    {
      unary: ({ request: text }: { request: string }, done: (error: null, answer: string) => void) => done(null, text),
    },
  )
  const calls = await new Promise<number>((resolve, reject) =>
    texts.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error)
      else resolve(port)
    }),
  )
  t.after(() => texts.forceShutdown())
  const bed = await testBed(t)
  const plain = await bed.application((_request, response) => response.end('plain'))
  const routes = [route(portOf(plain)), { ...route(calls), host: 'calls.localhost', speaksHttp2: true }]
  const { router } = await podBed(t, { stored: { version: 7, routes } })
  const client = textsClient({ port: router.port, host: 'calls.localhost' })
  t.after(async () => client.close())
  assert.equal(await client.unary('hello'), 'hello')
  const session = connectSession(`http://127.0.0.1:${router.port}`)
  t.after(async () => session.destroy())
  const stream = session.request({ ':authority': 'app.localhost' })
  assert.equal(await text(stream), 'plain')
  const { statusCode } = await send(router.port, { headers: { host: 'app.localhost' } })
  assert.equal(statusCode, 200)
})

test('a router in a pod reads PROXY headers, for HTTP/1.1 and HTTP/2 without TLS', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application(({ headers }, response) => response.end(headers['x-forwarded-for']))
  const routes = [route(portOf(app))]
  const { router } = await podBed(t, { stored: { version: 7, routes }, proxies: ['127.0.0.1'] })
  const through = (header: string | Buffer): Socket => {
    const socket = connect(router.port, '127.0.0.1')
    t.after(async () => socket.destroy())
    socket.write(header)
    return socket
  }
  const line = 'PROXY TCP4 192.0.2.1 198.51.100.1 5000 80\r\n'
  const request = 'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: close\r\n\r\n'
  assert.match(await text(through(line + request)), /\r\n192\.0\.2\.1(?:\r\n|$)/)
  const late = through(line)
  setImmediate(() => late.write(request))
  assert.match(await text(late), /\r\n192\.0\.2\.1(?:\r\n|$)/)
  const session = connectSession('http://app.localhost', {
    createConnection: () => through(proxyHeaderOf('192.0.2.7')),
  })
  endAfter(t, session)
  assert.equal(await text(session.request({ ':authority': 'app.localhost' })), '192.0.2.7')
})

test('a leaving router serves new connections over HTTP/2, and ends each after its stream', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_request, response) => response.end('ok'))
  const routes = [route(portOf(app))]
  const { router } = await podBed(t, { stored: { version: 7, routes }, leaveMs: 500 })
  const left = router.leave()
  const session = connectSession(`http://127.0.0.1:${router.port}`)
  const closed = new Promise((resolve) => session.once('close', resolve))
  assert.equal(await text(session.request({ ':authority': 'app.localhost' })), 'ok')
  await closed
  await left
})
