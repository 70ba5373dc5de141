import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../test/support/until.ts'
import { portOf, type TestBed, testBed } from './test-bed.ts'

// A new version that answers later than the limit has slow requests.

interface Trial extends TestBed {
  counts(): Promise<unknown>
}

/** A router with a new version that gets every request and answers its body so late. */
async function trial(t: TestContext, slowMs: number, lateMs: number, status = 200): Promise<Trial> {
  const bed = await testBed(t)
  const next = await bed.application((request, response) => {
    request.resume().once('end', () => setTimeout(() => response.writeHead(status).end('next'), lateMs))
  })
  next.on('upgrade', (_request, socket) => {
    const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
    setTimeout(() => socket.end(answer), lateMs)
  })
  const canary = { release: 'next', percent: 100, endpoints: [{ address: '127.0.0.1', port: portOf(next) }], slowMs }
  await bed.lead([portOf(next)], { canary })
  const counts = async () => {
    await until('nothing is open', async () => Object((await bed.tell('GET', '/health')).body['counts']).open === 0)
    const { body } = await bed.tell('GET', '/canaries')
    const [{ requests, failed, slow }] = Object(body['canaries'])
    return { requests, failed, slow }
  }
  return { ...bed, counts }
}

test('a response that begins later than the limit is slow, and an earlier one is not', async (t) => {
  const late = await trial(t, 20, 60)
  assert.equal((await late.ask()).body, 'next')
  assert.deepEqual(await late.counts(), { requests: 1, failed: 0, slow: 1 })
  const early = await trial(t, 60_000, 0)
  assert.equal((await early.ask()).body, 'next')
  assert.deepEqual(await early.counts(), { requests: 1, failed: 0, slow: 0 })
})

test('a late failure is a failure, and not slow as well', async (t) => {
  const bed = await trial(t, 20, 60, 500)
  assert.equal((await bed.ask()).status, 500)
  assert.deepEqual(await bed.counts(), { requests: 1, failed: 1, slow: 0 })
})

test('a client that sends its body slowly does not make the response late', async (t) => {
  const bed = await trial(t, 1000, 0)
  const socket = bed.raw('POST / HTTP/1.1\r\nHost: app.localhost\r\nContent-Length: 8\r\n\r\nhalf')
  await wait(1500)
  socket.write('half')
  await until('it is answered', async () => JSON.stringify(await bed.counts()).includes('"requests":1'))
  assert.deepEqual(await bed.counts(), { requests: 1, failed: 0, slow: 0 })
})

test('a connection that changes its protocol late is slow', async (t) => {
  const bed = await trial(t, 20, 60)
  const socket = bed.raw('GET / HTTP/1.1\r\nHost: app.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  const isCounted = async () => JSON.stringify(await bed.counts()).includes('"slow":1')
  await until('it is counted as slow', isCounted)
  socket.destroy()
})

test('a limit that is no whole number of milliseconds, or a name that is none, is rejected', async (t) => {
  const bed = await testBed(t)
  const endpoints = [{ address: '127.0.0.1', port: 80 }]
  for (const wrong of [{ slowMs: 0 }, { slowMs: 0.5 }, { slowMs: '5' }, { follow: 'A B' }, { follow: 1 }]) {
    const canary = { release: 'next', percent: 5, endpoints, ...wrong }
    const routes = [{ host: 'a.localhost', service: 's', name: 'n', endpoints, canary }]
    const { status, body } = await bed.tell('PUT', '/routes', { version: 1, routes })
    assert.equal(status, 400)
    assert.match(String(body['message']), /^routes\[0\]\.canary\.(slowMs|follow)/)
  }
})
