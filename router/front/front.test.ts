import assert from 'node:assert/strict'
import { Agent, type ServerResponse } from 'node:http'
import { connect } from 'node:http2'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { countAt } from '@quayside/contract/traffic-counts.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { monotonic } from '../clock.ts'
import { silentLog } from '../log.ts'
import { startRouter } from '../router.ts'
import { beds, portOf, type TestBed, testBed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const secureHost = 'outside.invalid'
const rules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }

async function frontedBed(t: TestContext, tlsPort?: number): Promise<TestBed> {
  beds.haproxy = haproxy
  return testBed(t, tlsPort === undefined ? {} : { tlsPort })
}

const healthOf = async ({ tell }: TestBed) => (await tell('GET', '/health')).body
/** Returns how many requests came to the router itself. */
const passedOn = async (bed: TestBed): Promise<number> => {
  const counts = JSON.parse(JSON.stringify((await healthOf(bed))['counts']))
  return counts.requests
}

test('HAProxy carries requests of plain routes alone, with the headers of the router', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((request, response) => response.end(JSON.stringify(request.headers)))
  await bed.lead([portOf(app)], { rules })
  const headers = { 'X-Forwarded-For': '9.9.9.9', X_Real_IP: '9.9.9.9', 'X-Quayside-Door': 'x', 'X-Kept': 'yes' }
  const host = `app.localhost:${bed.router.port}`
  for (const name of ['app.localhost', host]) {
    const { status, body } = await bed.ask({ host: name, headers })
    assert.equal(status, 200)
    const seen = JSON.parse(body)
    const told = ['for', 'proto', 'host', 'port'].map((each) => seen[`x-forwarded-${each}`])
    assert.deepEqual(told, ['127.0.0.1', 'http', name, String(bed.router.port)])
    assert.deepEqual([seen['x-real-ip'], seen.host, seen['x-kept']], ['127.0.0.1', name, 'yes'])
    assert.ok(!body.includes('9.9.9.9') && !body.includes('door'), body)
  }
  assert.equal(await passedOn(bed), 0)
})

test('requests that leave a choice come to the router', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((request, response) => response.end(request.method))
  await bed.lead([portOf(app)], { rules })
  const asked = [
    { host: 'APP.localhost', status: 200 },
    { host: 'app.localhost.', status: 200 },
    { headers: { Connection: 'X-Gone' }, status: 200 },
    { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, body: 'x', status: 200 },
    { method: 'POST', headers: { Expect: '100-continue', 'Content-Length': 1 }, body: 'x', status: 200 },
    { method: 'POST', body: 'x'.repeat(10_001), status: 413 },
    { path: '/.well-known/acme-challenge/x', status: 200 },
    { host: 'other.localhost', status: 404 },
  ]
  for (const [index, { status, ...ask }] of asked.entries()) {
    assert.equal((await bed.ask(ask)).status, status, JSON.stringify(ask))
    assert.equal(await passedOn(bed), index + 1, JSON.stringify(ask))
  }
  assert.equal((await bed.ask({ method: 'POST', body: 'x' })).status, 200)
  assert.equal(await passedOn(bed), asked.length)
})

test('requests that HAProxy carries count for their service, and delay a drain', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const waiting: ServerResponse[] = []
  const app = await bed.application((request, response) => {
    if (request.url === '/wait') waiting.push(response)
    else response.end('ok')
  })
  await bed.lead([portOf(app)], { rules })
  for (let sent = 0; sent < 3; sent++) await bed.ask()
  const services = async () => (await bed.tell('GET', '/activity')).body['services']
  // HAProxy counts the end of a request a moment after its response has arrived.
  await until('all have ended', async () => JSON.stringify(await services()).includes('"open":0'))
  assert.deepEqual(await services(), [{ service: 'service', requests: 3, open: 0 }])
  const answer = bed.ask({ path: '/wait' })
  await until('it is open', () => waiting.length === 1)
  assert.deepEqual(await services(), [{ service: 'service', requests: 4, open: 1 }])
  const endpoints = [{ address: '127.0.0.1', port: portOf(app) }]
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 30 })).body, { open: 1 })
  const drained = bed.tell('POST', '/drain', { endpoints, timeoutMs: 10_000 })
  waiting[0]?.end('done')
  assert.equal((await answer).body, 'done')
  assert.deepEqual((await drained).body, { open: 0 })
  assert.equal(await passedOn(bed), 0)
})

test('the numbers about a service have the requests that HAProxy carried, each once', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((request, response) => {
    response.statusCode = request.url === '/missing' ? 404 : 200
    response.end('x'.repeat(1_000))
  })
  await bed.lead([portOf(app)], { rules })
  for (const path of ['/', '/missing', '/']) await bed.ask({ path })
  const counted = async () => {
    const { body } = await bed.tell('POST', '/traffic', { stored: {} })
    const [batch] = JSON.parse(JSON.stringify(body['batches']))
    return batch?.counts.service ?? []
  }
  // HAProxy adds the bytes of a request a moment after its response has arrived.
  await until('all have ended', async () => {
    const activity = JSON.stringify((await bed.tell('GET', '/activity')).body)
    return activity.includes('"requests":3,"open":0')
  })
  const counts = await counted()
  assert.deepEqual([counts[countAt.success], counts[countAt.clientError], counts[countAt.own]], [2, 1, 0])
  assert.ok(counts[countAt.bytesOut] > 3_000 && counts[countAt.bytesIn] > 100, JSON.stringify(counts))
  assert.deepEqual(await counted(), counts)
})

test('the endpoints of a route share its requests', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const start = (name: string) => bed.application((_, response) => response.end(name))
  const apps = [await start('a'), await start('b'), await start('c')]
  await bed.lead(apps.map(portOf), { rules })
  const seen = new Map<string, number>()
  for (let sent = 0; sent < 90; sent++) {
    const { body } = await bed.ask()
    seen.set(body, (seen.get(body) ?? 0) + 1)
  }
  assert.deepEqual([...seen.keys()].toSorted(), ['a', 'b', 'c'])
  assert.ok(Math.min(...seen.values()) > 10, JSON.stringify([...seen]))
  assert.equal(await passedOn(bed), 0)
})

test('a killed HAProxy is started again within a second, with the current table', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((_, response) => response.end('here'))
  await bed.lead([portOf(app)], { rules })
  await bed.ask()
  await bed.tell('GET', '/activity')
  const before = Number((await healthOf(bed))['haproxyPid'])
  process.kill(before, 'SIGKILL')
  const killedAt = monotonic()
  await until('it answers again', () =>
    bed.ask().then(
      ({ body }) => body === 'here',
      () => false,
    ),
  )
  const tookMs = monotonic() - killedAt
  t.diagnostic(`it answered again after ${Math.round(tookMs)} ms`)
  assert.ok(tookMs < 5_000, `${tookMs} ms`)
  await until('its process is known', async () => {
    const after = Number((await healthOf(bed))['haproxyPid'])
    return after > 0 && after !== before
  })
  const activity = JSON.stringify((await bed.tell('GET', '/activity')).body)
  assert.match(activity, /"requests":[2-9]/, 'counts survive')
})

test('HAProxy outlives its router, and the next router adopts it', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((_, response) => response.end('here'))
  await bed.lead([portOf(app)], { rules })
  const pid = Number((await healthOf(bed))['haproxyPid'])
  const control = join(dirname(bed.control), 'next.sock')
  const config = { host: '127.0.0.1', port: bed.router.port, control, state: bed.state, trusted: [], haproxy }
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  assert.equal((await bed.ask({ agent })).body, 'here')
  const next = await startRouter({ ...config, share: true }, silentLog)
  t.after(() => next.stop(0))
  await bed.router.stop(1_000)
  assert.equal((await bed.ask({ agent })).body, 'here')
  assert.equal((await bed.ask({ host: 'other.localhost' })).status, 404)
  process.kill(pid, 0)
  // The folder of both is removed after the test.
  await next.stop(0)
})

test('HTTP/2 reaches applications, and each host only over its own connection', { skip }, async (t) => {
  const bed = await frontedBed(t, 0)
  const app = await bed.application((request, response) => {
    response.end(`${request.httpVersion} ${request.headers['x-forwarded-proto']} ${request.headers.host}`)
  })
  await bed.lead([portOf(app)], { host: secureHost, rules, tls: { from: 'platform', redirects: true } })
  const certificates = [{ host: secureHost, chain: selfSigned.cert, key: selfSigned.key }]
  assert.equal((await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'a' })).status, 200)
  const session = connect(`https://127.0.0.1:${bed.router.tlsPort}`, { servername: secureHost, ca: selfSigned.cert })
  t.after(() => session.destroy())
  session.on('error', () => {})
  const ask = async (authority: string, method = 'GET', body = ''): Promise<string> => {
    const stream = session.request({ ':authority': authority, ':path': '/', ':method': method })
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    stream.on('response', (headers) => resolve(Number(headers[':status']))).on('error', reject)
    if (body === '') stream.end()
    else stream.end(body)
    const status = await promise
    let text = ''
    for await (const chunk of stream) text += chunk
    return status === 200 ? text : String(status)
  }
  const authority = `${secureHost}:${bed.router.tlsPort}`
  assert.equal(await ask(authority), `1.1 https ${authority}`)
  assert.equal(await ask(secureHost), `1.1 https ${secureHost}`)
  assert.equal(await passedOn(bed), 0)
  assert.equal(await ask(secureHost, 'POST', 'x'), `1.1 https ${secureHost}`)
  assert.equal(await ask('other.invalid'), '421')
  assert.equal((await bed.ask({ host: secureHost })).status, 308)
})

test('a change among ten thousand routes is in effect once the router has answered', { skip }, async (t) => {
  const bed = await frontedBed(t)
  const app = await bed.application((_, response) => response.end('here'))
  const endpoints = [{ address: '127.0.0.1', port: portOf(app) }]
  const route = (index: number) => ({ host: `app-${index}.test`, service: `s${index}`, name: 'shop', rules })
  const routes = Array.from({ length: 10_000 }, (_, index) => ({ ...route(index), endpoints }))
  await bed.tell('PUT', '/routes', { version: 1, routes })
  assert.equal((await bed.ask({ host: 'app-9999.test' })).body, 'here')
  const other = await bed.application((_, response) => response.end('there'))
  const put = [{ ...route(9_999), endpoints: [{ address: '127.0.0.1', port: portOf(other) }] }]
  const startedAt = monotonic()
  await bed.tell('PATCH', '/routes', { from: 1, version: 2, put, gone: ['app-0.test/'] })
  t.diagnostic(`the change took ${Math.round(monotonic() - startedAt)} ms`)
  assert.equal((await bed.ask({ host: 'app-9999.test' })).body, 'there')
  assert.equal(await passedOn(bed), 0)
  assert.equal((await bed.ask({ host: 'app-0.test' })).status, 404)
})
