import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import test from 'node:test'
import { until } from '../test/support/until.ts'
import { sleep } from './clock.ts'
import { limits } from './limits.ts'
import type { Failure } from './pages.ts'
import { Routes } from './routes.ts'
import { moreThanBuffers, portOf, type TestBed, testBed, textOf } from './test-bed.ts'
import { Waiting } from './waiting.ts'

const fallAsleep = (bed: TestBed): Promise<void> => bed.lead([], { asleep: true, reason: 'it is asleep' })
const heldBy = async (bed: TestBed): Promise<number> => Number((await bed.tell('GET', '/health')).body['held'])
const wakes = async (bed: TestBed, sequence: number, timeoutMs = 10_000) =>
  (await bed.tell('POST', '/wakes', { sequence, timeoutMs })).body

test('requests for a sleeping service wait, wake it once, and arrive with their bodies', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((incoming, response) => {
    textOf(incoming).then(
      (text) => response.end(`${incoming.method} ${text}`),
      () => response.destroy(),
    )
  })
  await fallAsleep(bed)
  const { sequence } = await wakes(bed, -1, 1)
  const told = wakes(bed, Number(sequence))
  const agent = new Agent({ maxSockets: 60 })
  t.after(() => agent.destroy())
  const answers = Array.from({ length: 50 }, (_, n) => bed.ask({ method: 'POST', body: `body ${n}`, agent }))
  assert.deepEqual((await told)['services'], ['service'])
  await until('all are held', async () => (await heldBy(bed)) === 50)
  const again = await wakes(bed, -1)
  assert.equal(again['sequence'], Number(sequence) + 1)
  assert.deepEqual((await wakes(bed, Number(again['sequence']), 20))['sequence'], again['sequence'])
  await bed.lead([portOf(app)])
  for (const [n, answer] of (await Promise.all(answers)).entries()) {
    assert.deepEqual([answer.status, answer.body], [200, `POST body ${n}`])
  }
  assert.equal(await heldBy(bed), 0)
})

test('at most a buffer of a waiting body is read, and it arrives whole', async (t) => {
  const bed = await testBed(t)
  let length = 0
  const app = await bed.application((incoming, response) => {
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length
    })
    incoming.on('end', () => response.end('done'))
  })
  await fallAsleep(bed)
  const size = moreThanBuffers
  const headers = { host: 'app.localhost', 'content-length': size }
  const outgoing = request({ host: '127.0.0.1', port: bed.router.port, method: 'PUT', headers })
  const answered = new Promise<string>((resolve, reject) => {
    outgoing.on('response', (answer) => textOf(answer).then(resolve, reject)).on('error', reject)
  })
  outgoing.end(Buffer.alloc(size))
  await until('it is held', async () => (await heldBy(bed)) === 1)
  await sleep(50)
  assert.ok((outgoing.socket?.writableLength ?? 0) > size / 4, 'most of it is still with the client')
  await bed.lead([portOf(app)])
  assert.equal(await answered, 'done')
  assert.equal(length, size)
})

test('an upgrade waits for a sleeping service', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application(() => {})
  app.on('upgrade', (_, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  await fallAsleep(bed)
  const socket = bed.raw('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  await until('it is held', async () => (await heldBy(bed)) === 1)
  await bed.lead([portOf(app)])
  await until('both ends talk', () => text.startsWith('HTTP/1.1 101') && text.endsWith('early'))
})

test('a held request is dropped when its client disconnects', async (t) => {
  const bed = await testBed(t)
  await fallAsleep(bed)
  const socket = bed.raw('GET / HTTP/1.1\r\nHost: app.localhost\r\n\r\n')
  await until('it is held', async () => (await heldBy(bed)) === 1)
  socket.destroy()
  await until('nobody waits', async () => (await heldBy(bed)) === 0)
})

test('held requests fail at once with the reason when the service does not start', async (t) => {
  const bed = await testBed(t)
  await fallAsleep(bed)
  const answer = bed.ask()
  await until('it is held', async () => (await heldBy(bed)) === 1)
  await bed.lead([], { reason: 'no version of it is running' })
  const { status, body } = await answer
  assert.equal(status, 503)
  assert.match(body, /no version of it is running/)
})

test('the number of held requests and their time are limited', async () => {
  const routes = new Routes()
  const waiting = new Waiting(routes, 5)
  const route = { host: 'app.localhost', service: 's', name: 'shop', endpoints: [], asleep: true }
  routes.apply({ version: 1, routes: [route] })
  const target = routes.find('app.localhost')
  assert.ok(target)
  const failures: Failure[] = []
  const hold = () =>
    waiting.hold({ host: 'app.localhost' }, target, { go: () => {}, fail: (failure) => failures.push(failure) })
  for (let n = 0; n < limits.heldPerService; n++) hold()
  assert.deepEqual([waiting.size, failures.length], [limits.heldPerService, 0])
  hold()
  assert.deepEqual([failures[0]?.status, failures[0]?.retryAfterSeconds], [503, 5])
  await until('all gave up', () => waiting.size === 0)
  assert.equal(failures.length, limits.heldPerService + 1)
  assert.match(failures[1]?.message ?? '', /platform is away/)
})

test('waiting requests of one organization leave room for sleeping services of others', async (t) => {
  const bed = await testBed(t, { connections: { total: 10_000, perClient: 10_000 } })
  const shop = await bed.application((_, response) => response.end('awake'))
  const route = (service: string, organization: string) => {
    const host = `${service}.localhost`
    return { host, service, organization, name: service, endpoints: [], asleep: true, reason: 'it is asleep' }
  }
  const evil = Array.from({ length: 9 }, (_, n) => route(`evil${n}`, 'evil'))
  const asleep = { version: 1, routes: [...evil, route('shop', 'good')] }
  assert.equal((await bed.tell('PUT', '/routes', asleep)).status, 200)
  const agent = new Agent({ maxSockets: 5_000 })
  t.after(() => agent.destroy())
  const answers = evil.flatMap(({ host }) =>
    Array.from({ length: limits.heldPerService }, () => bed.ask({ host, agent }).catch(() => undefined)),
  )
  await until('every place is taken', async () => (await heldBy(bed)) === limits.heldRequests)
  const visits = Array.from({ length: 20 }, () => bed.ask({ host: 'shop.localhost' }))
  await until('the other service is to wake', async () =>
    String((await wakes(bed, -1, 1))['services']).includes('shop'),
  )
  assert.equal(await heldBy(bed), limits.heldRequests)
  const endpoints = [{ address: '127.0.0.1', port: portOf(shop) }]
  const awake = { host: 'shop.localhost', service: 'shop', organization: 'good', name: 'shop', endpoints }
  assert.equal((await bed.tell('PUT', '/routes', { version: 2, routes: [...evil, awake] })).status, 200)
  for (const { status, body } of await Promise.all(visits)) assert.deepEqual([status, body], [200, 'awake'])
  agent.destroy()
  await Promise.all(answers)
})

test('activity counts total and open requests once for an endpoint with several names', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  const endpoints = [{ address: '127.0.0.1', port: portOf(app) }]
  const routes = ['a.localhost', 'b.localhost'].map((host) => ({ host, service: 's', name: 'shop', endpoints }))
  await bed.tell('PUT', '/routes', { version: 1, routes })
  for (const host of ['a.localhost', 'b.localhost', 'a.localhost']) await bed.ask({ host })
  const services = async () => (await bed.tell('GET', '/activity')).body['services']
  assert.deepEqual(await services(), [{ service: 's', requests: 3, open: 0 }])
})
