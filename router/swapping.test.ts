import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import test from 'node:test'
import { until } from '../test/support/until.ts'
import { portOf, testBed } from './test-bed.ts'

test('no request fails when the application is replaced repeatedly under load', async (t) => {
  const bed = await testBed(t)
  const start = async (name: string): ReturnType<typeof bed.application> =>
    bed.application((_, response) => response.end(name))
  let current = await start('0')
  await bed.lead([portOf(current)])
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(() => agent.destroy())
  let running = true
  const seen = new Map<string, number>()
  const client = async (): Promise<void> => {
    while (running) {
      const { status, body } = await bed.ask({ agent })
      assert.equal(status, 200)
      seen.set(body, (seen.get(body) ?? 0) + 1)
    }
  }
  const clients = Promise.all(Array.from({ length: 8 }, client))
  await until('the first application answers', () => seen.has('0'))
  for (let swap = 1; swap <= 10; swap++) {
    const next = await start(String(swap))
    await bed.lead([portOf(next)])
    // The old one ends at once, with its open connections.
    current.close().closeAllConnections()
    current = next
    await until(`application ${swap} answers`, () => (seen.get(String(swap)) ?? 0) >= 20)
  }
  running = false
  await clients
  assert.equal(seen.size, 11)
})

test('a removed endpoint finishes its open requests, gets no new ones and loses its connections', async (t) => {
  const bed = await testBed(t)
  const waiting: ServerResponse[] = []
  const old = await bed.application((_, response) => {
    waiting.push(response)
  })
  const fresh = await bed.application((_, response) => response.end('new'))
  await bed.lead([portOf(old)])
  const answer = bed.ask()
  await until('the request is open at the old one', () => waiting.length === 1)
  await bed.lead([portOf(fresh)])
  assert.equal((await bed.ask()).body, 'new')
  const endpoints = [{ address: '127.0.0.1', port: portOf(old) }]
  assert.deepEqual((await bed.tell('POST', '/drain', { endpoints, timeoutMs: 30 })).body, { open: 1 })
  const drained = bed.tell('POST', '/drain', { endpoints, timeoutMs: 10_000 })
  waiting[0]?.end('old')
  assert.equal((await answer).body, 'old')
  assert.deepEqual((await drained).body, { open: 0 })
  await until(
    'the connections to the old one are closed',
    () => new Promise<boolean>((resolve) => old.getConnections((_, count) => resolve(count === 0))),
  )
  assert.equal(waiting.length, 1)
})

test('a shutdown lets open requests finish and refuses new connections', async (t) => {
  const bed = await testBed(t)
  const waiting: ServerResponse[] = []
  const app = await bed.application((_, response) => {
    if (waiting.length === 0) waiting.push(response)
    else response.end('accepted before the end')
  })
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const answer = bed.ask({ agent })
  await until('the request is open', () => waiting.length === 1)
  assert.equal((await bed.tell('POST', '/shutdown')).status, 202)
  await until('new connections are refused', () =>
    bed.ask().then(
      () => false,
      () => true,
    ),
  )
  waiting[0]?.end('finished')
  const { body, headers } = await answer
  assert.deepEqual([body, headers.connection], ['finished', 'close'])
  await bed.router.ended
})

// The limit for open requests is thirty seconds.
test('a shutdown does not wait for a connection that has sent nothing', { timeout: 15_000 }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('here'))
  await bed.lead([portOf(app)])
  // Browsers and proxies open connections ahead of requests.
  const silent = connect(bed.router.port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.on('error', () => {})
  await once(silent, 'connect')
  assert.equal((await bed.ask()).body, 'here')
  await bed.tell('POST', '/shutdown')
  await bed.router.ended
})
