import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { bucketCount, countAt } from '@quayside/contract/traffic-counts.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { limits } from '../limits.ts'
import { silentLog } from '../log.ts'
import { startRouter } from '../router.ts'
import { beds, portOf, send, testBed } from '../test-bed.ts'
import { readCounts } from '../test-traffic.ts'
import { askFront } from './admin-socket.ts'
import { FrontCounts } from './front-counts.ts'
import { frontFiles } from './front-files.ts'

const skip = (await missingHaproxy()) ?? false
beds.haproxy = haproxy

const statusesOf = (counts: readonly number[]): readonly number[] => counts.slice(0, countAt.own)

test('the bytes of a response that ends after a look at the counts are counted', { skip }, async (t) => {
  const bed = await testBed(t)
  const begun = Promise.withResolvers<ServerResponse>()
  const app = await bed.application((_, response) => {
    response.write('x'.repeat(1_000))
    begun.resolve(response)
  })
  await bed.lead([portOf(app)])
  const read = readCounts(bed)
  const asked = bed.ask()
  const response = await begun.promise
  await until('its status is counted', async () => (await read())[countAt.success] === 1)
  response.end('y'.repeat(50_000))
  assert.equal((await asked).body.length, 51_000)
  const bytesOut = async (): Promise<number> => (await read())[countAt.bytesOut] ?? 0
  await until('its bytes are counted', async () => (await bytesOut()) > 51_000)
  assert.ok((await bytesOut()) < 52_000, `${await bytesOut()}`)
  assert.deepEqual(statusesOf(await read()), [0, 1, 0, 0, 0])
})

test('a request that HAProxy leaves to the router is counted once', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end())
  const port = portOf(app)
  await new Promise((resolve) => app.close(resolve))
  await bed.lead([port])
  const read = readCounts(bed)
  for (let sent = 0; sent < 3; sent++) assert.equal((await bed.ask()).status, 502)
  await until('all have ended', async () => {
    const { services } = (await bed.tell('GET', '/activity')).body
    return JSON.stringify(services).includes('"open":0')
  })
  await until('all are counted', async () => ((await read())[countAt.serverError] ?? 0) >= 3)
  await read()
  const counts = await read()
  assert.deepEqual([...statusesOf(counts), counts[countAt.own], counts[countAt.bytesOut]], [0, 0, 0, 0, 3, 3, 0])
})

test('a request whose client leaves before the answer counts as 4xx', { skip }, async (t) => {
  const bed = await testBed(t)
  const arrived = Promise.withResolvers<void>()
  const app = await bed.application(() => arrived.resolve())
  await bed.lead([portOf(app)])
  const read = readCounts(bed)
  const socket = connect(bed.router.port, '127.0.0.1')
  socket.write(`GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)
  await arrived.promise
  socket.destroy()
  await until('it is counted', async () => ((await read())[countAt.clientError] ?? 0) > 0)
  const counts = await read()
  assert.deepEqual([...statusesOf(counts), counts[countAt.own]], [0, 0, 0, 1, 0, 1])
})

test('requests that HAProxy refuses because too many are open count as 5xx', { skip }, async (t) => {
  const bed = await testBed(t, { connections: { total: 10_000, perClient: 3_000 } })
  const app = await bed.application(() => {})
  await bed.lead([portOf(app)])
  const read = readCounts(bed)
  const sockets = Array.from({ length: limits.openPerEndpoint + 3 }, () => {
    const socket = connect(bed.router.port, '127.0.0.1')
    socket.write(`GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n`)
    return socket.on('error', () => {})
  })
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  await until('three are counted', async () => ((await read())[countAt.serverError] ?? 0) >= 3)
  const counts = await read()
  assert.deepEqual([counts[countAt.serverError], counts[countAt.own]], [3, 3])
})

test('a count of HAProxy continues after it wraps', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await bed.lead([portOf(app)])
  const requests = async (): Promise<number> => {
    const [service] = Object((await bed.tell('GET', '/activity')).body).services
    return service.requests
  }
  assert.equal((await bed.ask()).status, 200)
  await until('it is counted', async () => (await requests()) === 1)
  const { admin } = frontFiles(bed.control)
  const [, key = ''] = /key=(\S+)/.exec(await askFront(admin, 'show table endpoints')) ?? []
  // No command sets the counts of statuses, which wrap in the same way.
  assert.equal(await askFront(admin, `set table endpoints key ${key} data.http_req_cnt 4294967293`), '')
  const before = await requests()
  for (let sent = 0; sent < 5; sent++) assert.equal((await bed.ask()).status, 200)
  assert.match(await askFront(admin, 'show table endpoints'), / http_req_cnt=2 /)
  assert.equal((await requests()) - before, 5)
})

test('requests count for the service that had the address when they came', { skip }, async (t) => {
  const bed = await testBed(t)
  const late = Promise.withResolvers<ServerResponse>()
  const app = await bed.application((request, response) => {
    if (request.url === '/late') late.resolve(response)
    else response.end('ok')
  })
  const read = readCounts(bed)
  const both = async () => [await read('first'), await read('second')]
  await bed.lead([portOf(app)], { service: 'first' })
  for (let sent = 0; sent < 5; sent++) assert.equal((await bed.ask()).status, 200)
  const asked = bed.ask({ path: '/late' })
  const response = await late.promise
  await bed.lead([portOf(app)], { service: 'second' })
  for (let sent = 0; sent < 3; sent++) assert.equal((await bed.ask()).status, 200)
  response.end('late')
  assert.equal((await asked).status, 200)
  const times = (counts: readonly number[]): number =>
    counts.slice(countAt.whole, countAt.whole + bucketCount).reduce((sum, one) => sum + one, 0)
  await until('all have their times', async () => (await both()).map(times).reduce((sum, one) => sum + one) >= 9)
  const counts = await both()
  assert.deepEqual(counts.map(statusesOf), [
    [0, 6, 0, 0, 0],
    [0, 3, 0, 0, 0],
  ])
  assert.deepEqual(counts.map(times), [6, 3])
})

test('a drain waits for a request to an endpoint that only the previous router had', { skip }, async (t) => {
  const bed = await testBed(t)
  const begun = Promise.withResolvers<ServerResponse>()
  const app = await bed.application((_, response) => begun.resolve(response))
  await bed.lead([portOf(app)])
  const asked = bed.ask()
  const response = await begun.promise
  const counts = new FrontCounts(
    frontFiles(bed.control),
    { isListed: () => false, keysOf: () => undefined },
    () => process.pid,
  )
  const endpoint = { address: '127.0.0.1', port: portOf(app) }
  assert.equal(await counts.drain([endpoint], 10, new AbortController().signal), 1)
  response.end()
  await asked
  assert.equal(await counts.drain([endpoint], 10_000, new AbortController().signal), 0)
})

test('requests at HAProxy are counted once while its router hands over', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await bed.lead([portOf(app)])
  const ask = async (times: number): Promise<void> => {
    for (let sent = 0; sent < times; sent++) assert.equal((await bed.ask()).status, 200)
  }
  await ask(3)
  await readCounts(bed)()
  await ask(4)
  const control = join(dirname(bed.control), 'next.sock')
  const config = { host: '127.0.0.1', port: bed.router.port, control, state: bed.state, trusted: [], haproxy }
  const next = await startRouter({ ...config, share: true }, silentLog)
  t.after(() => next.stop(0))
  await ask(5)
  await bed.router.stop(1_000)
  await ask(6)
  const tell: typeof bed.tell = async (method, path, body) => {
    const { status, body: text } = await send({ socketPath: control, method, path }, JSON.stringify(body))
    return { status, body: JSON.parse(text) }
  }
  const read = readCounts({ ...bed, tell })
  await until('all are counted', async () => ((await read())[countAt.success] ?? 0) >= 15)
  assert.equal((await read())[countAt.success], 3 + 4 + 5 + 6)
  await next.stop(0)
})
