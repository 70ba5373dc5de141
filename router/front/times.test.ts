import assert from 'node:assert/strict'
import { Agent, type RequestListener } from 'node:http'
import test from 'node:test'
import { bucketCount, countAt } from '@quayside/contract/traffic-counts.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { until } from '../../test/support/until.ts'
import { beds, portOf, type TestBed, testBed } from '../test-bed.ts'
import { readCounts } from '../test-traffic.ts'
import { parseLine } from './times.ts'

const skip = (await missingHaproxy()) ?? false
beds.haproxy = haproxy

const says =
  (text: string): RequestListener =>
  (_request, response) =>
    void response.end(text)

/** Times of the service so far. */
interface Times {
  readonly count: number
  readonly sumMs: number
  readonly firstByteMs: number
  readonly buckets: readonly number[]
}

/** Returns how to read them. */
function readTimes(bed: TestBed, service?: string): () => Promise<Times> {
  const read = readCounts(bed)
  return async () => {
    const total = await read(service)
    const buckets = total.slice(countAt.whole, countAt.whole + bucketCount)
    const count = buckets.reduce((sum, one) => sum + one, 0)
    return { count, buckets, sumMs: total[countAt.wholeMs] ?? 0, firstByteMs: total[countAt.firstByteMs] ?? 0 }
  }
}

test('each of few requests that HAProxy carries has its times', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((request, response) => {
    if (request.url === '/late') setTimeout(() => response.end('late'), 300)
    else if (request.url === '/long') {
      response.write('first')
      setTimeout(() => response.end('last'), 300)
    } else response.end('ok')
  })
  await bed.lead([portOf(app)])
  for (const path of ['/', '/late', '/long', '/']) assert.equal((await bed.ask({ path })).status, 200)
  // The router measures this one itself.
  const chunked = { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' }, body: 'x', path: '/late' }
  assert.equal((await bed.ask(chunked)).status, 200)
  const read = readTimes(bed)
  await until('all have their times', async () => (await read()).count >= 5)
  const { count, sumMs, firstByteMs, buckets } = await read()
  assert.equal(count, 5)
  assert.equal(
    buckets.slice(9, 11).reduce((sum, one) => sum + one, 0),
    3,
    JSON.stringify(buckets),
  )
  assert.ok(sumMs >= 895 && sumMs < 3_000, `${sumMs} ms`)
  assert.ok(firstByteMs >= 595 && firstByteMs <= sumMs - 295, `${firstByteMs} of ${sumMs} ms`)
})

test('a share of many requests stands for all of them', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await bed.lead([portOf(app)])
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(async () => agent.destroy())
  const sent = 4_000
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let at = 0; at < sent / 8; at++) assert.equal((await bed.ask({ agent })).status, 200)
    }),
  )
  const read = readTimes(bed)
  // Six standard deviations of a draw of one in 16.
  await until('a share has its times', async () => (await read()).count > sent - 1_500)
  const { count } = await read()
  assert.ok(count < sent + 1_500, `${count} of ${sent}`)
  assert.notEqual(count, sent)
})

test('each of few requests has its times, also beside a service with many', { skip }, async (t) => {
  const bed = await testBed(t)
  const [busy, quiet] = [await bed.application(says('busy')), await bed.application(says('quiet'))]
  const routes = Object.entries({ busy, quiet }).map(([name, app]) => ({
    host: `${name}.localhost`,
    ...{ service: name, name, endpoints: [{ address: '127.0.0.1', port: portOf(app) }] },
  }))
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(async () => agent.destroy())
  let [sent, asked] = [0, 0]
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (sent++ < 4_000) {
        assert.equal((await bed.ask({ agent, host: 'busy.localhost' })).body, 'busy')
        if (sent % 400 !== 0 || asked++ >= 10) continue
        assert.equal((await bed.ask({ host: 'quiet.localhost' })).body, 'quiet')
      }
    }),
  )
  const read = readTimes(bed, 'quiet')
  await until('the quiet service has its times', async () => (await read()).count >= Math.min(asked, 10))
  assert.equal((await read()).count, Math.min(asked, 10))
  assert.ok(asked > 4, `${asked}`)
})

test('times are measured again after HAProxy was killed', { skip }, async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('ok'))
  await bed.lead([portOf(app)])
  const read = readTimes(bed)
  const measured = async (): Promise<boolean> => {
    const { count } = await read()
    assert.equal((await bed.ask()).status, 200)
    return (await read()).count > count
  }
  await until('requests have times', measured)
  const before = (await bed.tell('GET', '/health')).body['haproxyPid']
  process.kill(Number(before), 'SIGKILL')
  await until('another HAProxy runs', async () => {
    const { haproxyPid } = (await bed.tell('GET', '/health')).body
    return typeof haproxyPid === 'number' && haproxyPid !== before
  })
  await until('requests have times again', measured)
})

test('lines of requests that HAProxy carried are read, and no others', () => {
  const whole = { endpoint: '127.0.0.1:80:pJ_-4abc', firstByteMs: 21, wholeMs: 24, weight: 1 }
  assert.deepEqual(parseLine('direct -- 200 127.0.0.1:80:pJ_-4abc 0 1 20 3 24 1'), whole)
  assert.equal(parseLine('direct -- 200 127.0.0.1:80:pJ_-4abc 0 1 20 3 24 64')?.weight, 64)
  const others = [
    '',
    'direct -- 200 - 0 1 20 3 24 1',
    'own -- 200 127.0.0.1:80:pJ_-4abc 0 0 0 0 0 1',
    'own CH -1 127.0.0.1:80:pJ_-4abc 0 0 -1 -1 9 1',
    'direct CD 200 127.0.0.1:80:pJ_-4abc 0 1 5 -1 9 1',
    'direct SC 503 - 0 -1 -1 -1 9 1',
  ]
  for (const line of others) assert.equal(parseLine(line), undefined, line)
})

test('a line without a response of the endpoint has the status of the client', () => {
  const of = (line: string) => {
    const read = parseLine(line)
    return read && 'status' in read ? [read.status, read.wholeMs, read.weight] : undefined
  }
  assert.deepEqual(of('direct sH 504 127.0.0.1:80:pJ_-4abc 0 1 -1 -1 60001 3'), [504, 60_001, 3])
  assert.deepEqual(of('direct CH -1 127.0.0.1:80:pJ_-4abc 0 1 -1 -1 12 1'), [499, 12, 1])
  assert.deepEqual(of('<NOSRV> PR 503 127.0.0.1:80:pJ_-4abc -1 -1 -1 -1 0 -'), [503, 0, 1])
  assert.deepEqual(of('direct KH -1 127.0.0.1:80:pJ_-4abc 0 1 -1 -1 12 1'), [502, 12, 1])
})
