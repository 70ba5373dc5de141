import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import {
  bucketCount,
  bucketOf,
  type CountBatch,
  countAt,
  isCounts,
  latencyBoundsMs,
} from '@quayside/contract/traffic-counts.ts'
import { until } from '../test/support/until.ts'
import { KeptCounts } from './kept-counts.ts'
import { silentLog } from './log.ts'
import { ServiceCounts } from './service-counts.ts'
import { moreThanBuffers, portOf, type TestBed, testBed } from './test-bed.ts'

/** Takes the batches that follow the stored ones. */
async function take({ tell }: TestBed, stored: Record<string, number> = {}): Promise<CountBatch[]> {
  const { status, body } = await tell('POST', '/traffic', { stored })
  assert.equal(status, 200)
  return Object(body).batches
}

const countsOf = (batches: readonly CountBatch[], service = 'service'): readonly number[] => {
  const [counts] = batches.flatMap(({ counts: all }) => (all[service] ? [all[service]] : []))
  return counts ?? assert.fail('nothing was counted')
}

test('buckets are bounded by powers of two, and the last one has no bound', () => {
  for (const [bucket, bound] of latencyBoundsMs.entries()) {
    assert.equal(bucketOf(bound), bucket)
    assert.equal(bucketOf(bound + 0.01), bucket + 1)
  }
  assert.equal(bucketOf(0), 0)
  assert.equal(bucketOf(1e12), bucketCount - 1)
})

test('the router counts requests by status, with bytes and times', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    incoming.resume()
    response.writeHead(Number(incoming.url?.slice(1)), { 'Content-Length': '5' }).end('hello')
  })
  await bed.lead([portOf(app)])
  for (const status of [200, 201, 302, 404, 500]) {
    await bed.ask({ path: `/${status}`, method: 'POST', body: 'x'.repeat(100) })
  }
  const counts = countsOf(await take(bed))
  assert.deepEqual(counts.slice(0, countAt.connections), [0, 2, 1, 1, 1, 0])
  const bytesIn = counts[countAt.bytesIn] ?? 0
  assert.ok(bytesIn >= 500 + 5 * 60 && bytesIn < 500 + 5 * 400, `${bytesIn} bytes`)
  const bytesOut = counts[countAt.bytesOut] ?? 0
  assert.ok(bytesOut >= 25 + 5 * 60 && bytesOut < 25 + 5 * 400, `${bytesOut} bytes`)
  const sum = (from: number): number => counts.slice(from, from + bucketCount).reduce((all, one) => all + one, 0)
  assert.deepEqual([sum(countAt.firstByte), sum(countAt.whole)], [5, 5])
})

test('a batch is repeated until it is stored, and nothing is in two batches', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('hello'))
  await bed.lead([portOf(app)])
  await bed.ask()
  const first = await take(bed)
  await bed.ask()
  assert.deepEqual(await take(bed), first)
  const { source = '' } = first[0] ?? {}
  const second = await take(bed, { [source]: 1 })
  assert.equal(second[0]?.batch, 2)
  assert.equal(countsOf(second)[countAt.success], 1)
  assert.deepEqual(await take(bed, { [source]: 2 }), [])
})

test('requests without an endpoint, and those whose endpoint breaks off, count as the router its own', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    if (incoming.url === '/broken') response.writeHead(200, { 'Content-Length': '9' }).write('1')
    response.socket?.destroySoon()
  })
  await bed.lead([portOf(app)])
  await bed.ask({ path: '/broken' }).catch(() => {})
  await bed.lead([])
  assert.equal((await bed.ask()).status, 503)
  const counts = countsOf(await take(bed))
  assert.deepEqual(counts.slice(0, countAt.connections), [0, 1, 0, 0, 1, 2])
})

test('a client that leaves before the response counts with the status 499', async (t) => {
  const bed = await testBed(t)
  const asked = Promise.withResolvers<void>()
  const app = await bed.application(() => asked.resolve())
  await bed.lead([portOf(app)])
  const socket = bed.raw('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  await asked.promise
  socket.destroy()
  const { clientError, own } = countAt
  let stored = {}
  await until('the request is counted', async () => {
    const [batch] = await take(bed, stored)
    if (batch) stored = { [batch.source]: batch.batch }
    const counts = batch?.counts['service']
    return counts?.[clientError] === 1 && counts[own] === 1
  })
})

test('a client that leaves while a service wakes, or before an upgrade, counts with the status 499', async (t) => {
  const bed = await testBed(t)
  const { clientError, serverError, own } = countAt
  let stored = {}
  const heldBy = async () => Number((await bed.tell('GET', '/health')).body['held'])
  const counted = (what: string) =>
    until(what, async () => {
      const [batch] = await take(bed, stored)
      if (batch) stored = { [batch.source]: batch.batch }
      const counts = batch?.counts['service']
      if (!counts?.[own]) return false
      assert.deepEqual([counts[clientError], counts[serverError], counts[own]], [1, 0, 1], what)
      return true
    })
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  await bed.lead([], { asleep: true })
  for (const more of ['', upgrade]) {
    const socket = bed.raw(`GET / HTTP/1.1\r\nHost: app.localhost\r\n${more}\r\n`)
    await until('the request is held', async () => (await heldBy()) === 1)
    socket.destroy()
    await counted(`a request that waited (${more})`)
    assert.equal(await heldBy(), 0)
  }
  const asked = Promise.withResolvers<void>()
  const app = await bed.application(() => {})
  app.on('upgrade', () => asked.resolve())
  await bed.lead([portOf(app)])
  const socket = bed.raw(`GET / HTTP/1.1\r\nHost: app.localhost\r\n${upgrade}\r\n`)
  await asked.promise
  socket.destroy()
  await counted('an upgrade without an answer')
})

test('the bytes of a stream and of an upgrade are counted while they live', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => void response.write('x'.repeat(70_000)))
  app.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  await bed.lead([portOf(app)])
  const outgoing = request({ host: '127.0.0.1', port: bed.router.port, headers: { host: 'app.localhost' } })
  outgoing.on('error', () => {}).end()
  const [message] = await once(outgoing, 'response')
  let length = 0
  message
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      length += chunk.length
    })
  await until('the stream has arrived', () => length === 70_000)
  const streamed = await take(bed)
  assert.ok((countsOf(streamed)[countAt.bytesOut] ?? 0) > 70_000)
  outgoing.destroy()
  const { source = '' } = streamed[0] ?? {}
  const socket = bed.raw(
    'GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n' + 'y'.repeat(50_000),
  )
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await until('the echo has arrived', () => text.length > 50_000)
  const counts = countsOf(await take(bed, { [source]: 1 }))
  assert.equal(counts[countAt.informational], 1)
  assert.ok((counts[countAt.bytesIn] ?? 0) > 50_000 && (counts[countAt.bytesOut] ?? 0) > 50_000)
})

test('connections of a TCP port are counted with their bytes', async (t) => {
  const bed = await testBed(t)
  const app = createServer((socket) => socket.pipe(socket))
  t.after(() => app.close())
  await once(app.listen(0, '127.0.0.1'), 'listening')
  const free = createServer()
  await once(free.listen(0, '127.0.0.1'), 'listening')
  const port = portOf(free)
  await new Promise((resolve) => free.close(resolve))
  await bed.lead([portOf(app)], { host: `app.localhost:${port}`, listen: { protocol: 'TCP', port } })
  const client = connect(port, '127.0.0.1')
  client.write('z'.repeat(1_000))
  let length = 0
  client.on('data', (chunk) => {
    length += chunk.length
  })
  await until('the echo has arrived', () => length === 1_000)
  client.destroy()
  const counts = countsOf(await take(bed))
  assert.deepEqual([counts[countAt.connections], counts[countAt.bytesIn], counts[countAt.bytesOut]], [1, 1_000, 1_000])
})

test('bytes that an endpoint never read do not take away numbers that were counted', async (t) => {
  const app = createServer({ pauseOnConnect: true })
  t.after(() => app.close())
  await once(app.listen(0, '127.0.0.1'), 'listening')
  const socket = connect(portOf(app), '127.0.0.1')
  const [[end]]: [Socket[], unknown] = await Promise.all([once(app, 'connection'), once(socket, 'connect')])
  const counts = new ServiceCounts()
  counts.watch('service', socket)
  // The system takes a part of the first bytes. The others wait in this process.
  socket.write(Buffer.alloc(moreThanBuffers))
  socket.write(Buffer.alloc(100_000))
  counts.recordConnection('service')
  assert.equal(counts.take(0)?.batch, 1)
  socket.destroy()
  await once(socket, 'close')
  end?.destroy()
  counts.recordConnection('service')
  const second = countsOf([counts.take(1) ?? assert.fail('nothing was counted')])
  assert.equal(second[countAt.connections], 1)
  assert.ok(isCounts(second), `${second[countAt.bytesIn]} bytes`)
})

test('a router that ends leaves its numbers to the next one, once', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('hello'))
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: false })
  await bed.ask({ agent })
  const [taken] = await take(bed)
  await bed.ask({ agent })
  await bed.router.stop(0)
  const next = new KeptCounts(new ServiceCounts(), { state: bed.state, log: silentLog })
  const left = next.take({})
  assert.deepEqual(
    left.map(({ source, batch }) => [source, batch]),
    [1, 2].map((batch) => [taken?.source, batch]),
  )
  assert.deepEqual(next.take({ [taken?.source ?? '']: 1 }), left.slice(1))
  assert.deepEqual(next.take({ [taken?.source ?? '']: 2 }), [])
  assert.deepEqual(
    (await readdir(dirname(bed.state))).filter((name) => name.startsWith('traffic-')),
    [],
  )
})

test('the file of a living router is not read, that of a killed one is', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-counts-'))
  t.after(() => rm(directory, { recursive: true }))
  const counts = new ServiceCounts()
  counts.recordRequest('service', 200, 1, 2, 3, 4)
  const path = join(directory, `traffic-${counts.source}.json`)
  await writeFile(path, JSON.stringify({ hasEnded: false, batches: counts.left() }))
  const other = new KeptCounts(new ServiceCounts(), { state: join(directory, 'routes.json'), log: silentLog })
  assert.deepEqual(other.take({}), [])
  const old = new Date(Date.now() - 61_000)
  await utimes(path, old, old)
  assert.equal(other.take({}).length, 1)
})

test('a damaged file of an ended router is removed', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-counts-'))
  t.after(() => rm(directory, { recursive: true }))
  await writeFile(join(directory, `traffic-${new ServiceCounts().source}.json`), '{"hasEnded":true,"batches":[{}]}')
  const kept = new KeptCounts(new ServiceCounts(), { state: join(directory, 'routes.json'), log: silentLog })
  assert.deepEqual(kept.take({}), [])
  assert.deepEqual(await readdir(directory), [])
})
