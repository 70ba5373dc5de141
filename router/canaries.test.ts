import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type RequestListener } from 'node:http'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { Canary } from './canaries.ts'
import { portOf, type TestBed, testBed } from './test-bed.ts'

const says =
  (text: string): RequestListener =>
  (request, response) => {
    request.resume()
    response.end(text)
  }

/** Leads to the previous version, and so many of 100 requests to the new one. */
async function lead(bed: TestBed, [previous, next]: readonly [number, number], percent: number, more = {}) {
  const canary = { release: 'next', percent, endpoints: [{ address: '127.0.0.1', port: next }] }
  await bed.lead([previous], { canary, ...more })
}

async function tally(bed: TestBed, requests: number, headers = {}): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  const agent = new Agent({ keepAlive: true })
  for (let request = 0; request < requests; request++) {
    const { status, body } = await bed.ask({ agent, headers })
    const key = status === 200 ? body : String(status)
    found[key] = (found[key] ?? 0) + 1
  }
  agent.destroy()
  return found
}

async function countsOf({ tell }: TestBed): Promise<readonly (readonly number[])[]> {
  const { body } = await tell('GET', '/canaries')
  assert.ok(Array.isArray(body['canaries']))
  return body['canaries'].map(({ requests, failed }: { requests: number; failed: number }) => [requests, failed])
}

test('the turns of a new version are its exact share, in every hundred requests', () => {
  for (let percent = 1; percent <= 100; percent++) {
    const canary = new Canary('service', 'next', { percent })
    const turns = Array.from({ length: 300 }, () => canary.takesNext())
    for (const start of [0, 37, 100, 200]) {
      assert.equal(turns.slice(start, start + 100).filter(Boolean).length, percent, `${percent} % from ${start}`)
    }
  }
})

test('a new version gets its share of requests, also after the table is sent again', async (t) => {
  const bed = await testBed(t)
  const [previous, next] = [await bed.application(says('previous')), await bed.application(says('next'))].map(portOf)
  const ports = [previous ?? 0, next ?? 0] as const
  await lead(bed, ports, 5)
  assert.deepEqual(await tally(bed, 500), { previous: 475, next: 25 })
  for (let round = 0; round < 50; round++) {
    await lead(bed, ports, 5, { name: `shop ${round}` })
    await bed.ask()
  }
  assert.deepEqual(await countsOf(bed), [[28, 0]])
  await lead(bed, ports, 100)
  assert.deepEqual(await tally(bed, 20), { next: 20 })
  await bed.lead([ports[0]])
  assert.deepEqual([await tally(bed, 20), await countsOf(bed)], [{ previous: 20 }, []])
})

test('routes of one service share the turns and the counts of its new version', async (t) => {
  const bed = await testBed(t)
  const [previous, next] = [
    portOf(await bed.application(says('previous'))),
    portOf(await bed.application(says('next'))),
  ]
  const one: Partial<Route> & { endpoints: Route['endpoints'] } = {
    service: 'service',
    name: 'shop',
    endpoints: [{ address: '127.0.0.1', port: previous }],
    canary: { release: 'next', percent: 50, endpoints: [{ address: '127.0.0.1', port: next }] },
  }
  const routes = ['app.localhost', 'two.localhost'].map((host) => ({ ...one, host }))
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  const bodies: string[] = []
  for (const { host } of [...routes, ...routes]) bodies.push((await bed.ask({ host })).body)
  assert.deepEqual(bodies.sort(), ['next', 'next', 'previous', 'previous'])
  assert.deepEqual(await countsOf(bed), [[2, 0]])
})

test('failures of the new version are counted, and retried at the previous one if that is safe', async (t) => {
  const bed = await testBed(t)
  const previous = portOf(await bed.application(says('previous')))
  let status = 500
  const next = await bed.application((_request, response) => {
    if (status > 0) response.writeHead(status).end('next')
    else response.destroy()
  })
  await lead(bed, [previous, portOf(next)], 50)
  assert.deepEqual(await tally(bed, 10), { previous: 5, '500': 5 })
  assert.deepEqual(await countsOf(bed), [[5, 5]])
  status = 404
  assert.deepEqual(await tally(bed, 10), { previous: 5, '404': 5 })
  assert.deepEqual(await countsOf(bed), [[10, 5]])
  status = 0
  assert.deepEqual(await tally(bed, 10), { previous: 10 })
  assert.deepEqual(await countsOf(bed), [[15, 10]])
  next.close().closeAllConnections()
  assert.deepEqual(await tally(bed, 10), { previous: 10 })
  assert.deepEqual(await countsOf(bed), [[20, 15]])
})

test('a request with a body that gets no answer is counted as failed', async (t) => {
  const bed = await testBed(t)
  const next = await bed.application((request) => void request.socket.destroy())
  await lead(bed, [portOf(await bed.application(says('previous'))), portOf(next)], 100)
  for (const method of ['POST', 'PUT']) assert.equal((await bed.ask({ method, body: 'x' })).status, 502)
  assert.deepEqual(await countsOf(bed), [[2, 2]])
})

test('each try is counted once, also if the time of its request ends before the next one', async (t) => {
  const bed = await testBed(t)
  const next = await bed.application((request) => void request.socket.destroy())
  let connections = 0
  next.on('connection', () => connections++)
  const canary = { release: 'next', percent: 100, endpoints: [{ address: '127.0.0.1', port: portOf(next) }] }
  for (const requestTimeoutMs of [60, 90, 120, 200, 300]) {
    await bed.lead([], { canary, rules: { requestTimeoutMs } })
    assert.equal((await bed.ask()).status, 504)
  }
  // The last try of a request may end before the application has read it.
  await until('each connection is counted', async () => {
    const [counts] = await countsOf(bed)
    return counts?.[0] === connections && counts[1] === connections
  })
})

test('a client that leaves, before or within its body, is not counted', async (t) => {
  const bed = await testBed(t)
  const asked: string[] = []
  const next = await bed.application((request) => void asked.push(request.url ?? ''))
  await lead(bed, [portOf(await bed.application(says('previous'))), portOf(next)], 100)
  const heads = [
    'GET /a HTTP/1.1\r\n',
    'POST /b HTTP/1.1\r\nContent-Length: 10\r\n',
    'POST /c HTTP/1.1\r\nContent-Length: 99999\r\n',
  ]
  for (const head of heads) {
    const socket = bed.raw(`${head}Host: app.localhost\r\n\r\n${head.startsWith('GET') ? '' : '12345'}`)
    const before = asked.length
    await until('the new version has the request', () => asked.length > before)
    socket.destroy()
    await once(socket, 'close')
  }
  await until(
    'the router has noticed',
    async () => Object((await bed.tell('GET', '/health')).body['counts']).open === 0,
  )
  assert.deepEqual(await countsOf(bed), [[0, 0]])
})

test('an answer that is cut off counts as failed', async (t) => {
  const bed = await testBed(t)
  const next = await bed.application((_request, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('half')
    setImmediate(() => response.destroy())
  })
  await lead(bed, [portOf(await bed.application(says('previous'))), portOf(next)], 100)
  await assert.rejects(bed.ask())
  assert.deepEqual(await countsOf(bed), [[1, 1]])
})

test('clients with a sticky session stay at their version while it is listed', async (t) => {
  const bed = await testBed(t)
  const ports = [portOf(await bed.application(says('previous'))), portOf(await bed.application(says('next')))] as const
  const sticky = { rules: { sticky: true } }
  await lead(bed, ports, 50, sticky)
  const first = [await bed.ask(), await bed.ask()]
  assert.deepEqual(first.map(({ body }) => body).sort(), ['next', 'previous'])
  for (const { body, headers } of first) {
    const cookie = String(headers['set-cookie']).split(';')[0]
    assert.deepEqual(await tally(bed, 10, { cookie }), { [body]: 10 })
    if (body !== 'next') continue
    await bed.lead([ports[0]], sticky)
    assert.deepEqual(await tally(bed, 10, { cookie }), { previous: 10 })
    await lead(bed, ports, 50, sticky)
  }
})

test('connections that change their protocol go to both versions and are counted', async (t) => {
  const bed = await testBed(t)
  const accepting = createServer().on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nnext')
  })
  accepting.listen(0, '127.0.0.1')
  await once(accepting, 'listening')
  t.after(() => void accepting.close())
  await lead(bed, [portOf(await bed.application(says('previous'))), portOf(accepting)], 100)
  const socket = bed.raw('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 101 /)
  assert.deepEqual(await countsOf(bed), [[1, 0]])
})

test('the new version gets all requests if the previous one has no endpoint', async (t) => {
  const bed = await testBed(t)
  const next = portOf(await bed.application(says('next')))
  await bed.lead([], { canary: { release: 'next', percent: 1, endpoints: [{ address: '127.0.0.1', port: next }] } })
  assert.deepEqual(await tally(bed, 10), { next: 10 })
})

test('a table with a share that is no percentage, or at a port, is rejected', async (t) => {
  const bed = await testBed(t)
  const endpoints = [{ address: '127.0.0.1', port: 80 }]
  const usual = { host: 'a.localhost', service: 's', name: 'n', endpoints }
  const canary = { release: 'next', percent: 5, endpoints }
  const wrong = [
    { ...usual, canary: { ...canary, percent: 0 } },
    { ...usual, canary: { ...canary, percent: 101 } },
    { ...usual, canary: { ...canary, percent: 0.5 } },
    { ...usual, canary: { ...canary, endpoints: [] } },
    { ...usual, canary: { ...canary, release: 1 } },
    { ...usual, host: 'a.localhost:7000', listen: { protocol: 'TCP', port: 7000 }, canary },
  ]
  for (const route of wrong) {
    const { status, body } = await bed.tell('PUT', '/routes', { version: 1, routes: [route] })
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(String(body['message']), /^routes\[0\]\.canary/)
  }
})
