import assert from 'node:assert/strict'
import test from 'node:test'
import { findFreePort } from '../test/support/free-port.ts'
import { until } from '../test/support/until.ts'
import { monotonic } from './clock.ts'
import { limits } from './limits.ts'
import { isSafeMethod, retryDelay } from './retry.ts'
import { portOf, type TestBed, testBed, textOf } from './test-bed.ts'

const failure = { tries: 1, elapsedMs: 0, sent: true, answered: false, safe: true, final: false }

test('retryDelay retries only unsent or safe requests, for a limited time', () => {
  assert.equal(retryDelay(failure), 0)
  assert.equal(retryDelay({ ...failure, safe: false }), undefined)
  assert.equal(retryDelay({ ...failure, safe: false, sent: false }), 0)
  assert.equal(retryDelay({ ...failure, answered: true }), undefined)
  assert.equal(retryDelay({ ...failure, final: true }), undefined)
  assert.equal(retryDelay({ ...failure, tries: 50, elapsedMs: 1_000 }), 400)
  assert.equal(retryDelay({ ...failure, tries: 50, elapsedMs: limits.retryMs }), undefined)
  assert.deepEqual(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE'].map(isSafeMethod), [
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

/** A rule whose retries outlast the test. */
const patient = { rules: { retry: { times: 1_000 } } }
const retriesOf = async (bed: TestBed): Promise<number> =>
  Number(Object((await bed.tell('GET', '/health')).body['counts'])['retries'])

test('an unsent POST waits for the application to come back', async (t) => {
  const bed = await testBed(t)
  const port = await findFreePort()
  await bed.lead([port], patient)
  const answer = bed.ask({ method: 'POST', body: 'order' })
  await until('it is tried again', async () => (await retriesOf(bed)) > 2)
  await bed.application((request, response) => {
    textOf(request)
      .then((text) => response.end(`got ${text}`))
      .catch(() => response.destroy())
  }, port)
  assert.equal((await answer).body, 'got order')
})

test('a retried request follows the table to another endpoint', async (t) => {
  const bed = await testBed(t)
  await bed.lead([await findFreePort()], patient)
  const app = await bed.application((_, response) => response.end('new'))
  const answer = bed.ask({ method: 'POST', body: 'order' })
  await until('it is tried again', async () => (await retriesOf(bed)) > 0)
  await bed.lead([portOf(app)])
  assert.equal((await answer).body, 'new')
})

test('the router retries a GET on a reset, and never a POST, PUT or DELETE', async (t) => {
  const bed = await testBed(t)
  const seen: string[] = []
  const app = await bed.application((request, response) => {
    seen.push(`${request.method}`)
    if (request.url === '/warm') response.end('warm')
    else if (request.method === 'GET' && seen.filter((method) => method === 'GET').length > 2)
      response.end('second try')
    else request.socket.destroy()
  })
  await bed.lead([portOf(app)])
  assert.equal((await bed.ask({ path: '/warm' })).body, 'warm')
  assert.equal((await bed.ask()).body, 'second try')
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const answer = await bed.ask({ method, body: method === 'DELETE' ? '' : 'x' })
    assert.equal(answer.status, 502)
    assert.match(answer.body, /shop ended the connection before it answered/)
    assert.equal(seen.filter((each) => each === method).length, 1)
  }
})

test('the router avoids a dead endpoint and fails no request', async (t) => {
  const bed = await testBed(t)
  const seen = new Map<string, number>()
  const apps = await Promise.all(
    ['a', 'b'].map((name) =>
      bed.application((_, response) => {
        seen.set(name, (seen.get(name) ?? 0) + 1)
        response.end(name)
      }),
    ),
  )
  await bed.lead([...apps.map(portOf), await findFreePort()])
  const start = monotonic()
  for (let count = 0; count < 60; count++) {
    assert.equal((await bed.ask({ method: count % 2 ? 'POST' : 'GET', body: count % 2 ? 'x' : '' })).status, 200)
  }
  assert.ok(
    [...seen.values()].every((count) => count >= 20),
    JSON.stringify([...seen]),
  )
  // It is tried once, and again each time its avoidance expires.
  const most = 2 + Math.floor((monotonic() - start) / limits.asideMs)
  const retries = await retriesOf(bed)
  assert.ok(retries <= most, `${retries} retries, at most ${most} are expected`)
})

test('the router answers 502 soon when no endpoint is reachable', async (t) => {
  const bed = await testBed(t)
  await bed.lead([await findFreePort(), await findFreePort()])
  const start = monotonic()
  const answer = await bed.ask()
  assert.equal(answer.status, 502)
  assert.match(answer.body, /shop does not answer: no running instance could be reached/)
  const took = monotonic() - start
  assert.ok(took > limits.retryMs / 2, `${took} ms`)
  assert.ok((await retriesOf(bed)) > 0)
})
