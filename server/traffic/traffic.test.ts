import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type CountBatch, countAt, countLength } from '@quayside/contract/traffic-counts.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { allClusters, createFakeRouter } from '../routers/index.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { quantile } from './figures.ts'
import { createTrafficCollector, createTrafficKeeper, createTrafficReader } from './index.ts'
import { levels, partsOf, rangeOf } from './levels.ts'

const { signal } = new AbortController()
const start = Date.parse('2026-06-01T12:00:00Z')
const minute = 60_000
const hour = 60 * minute

/** The counts of so many successful requests of 3 ms with 100 bytes each. */
function countsOf(requests: number): readonly number[] {
  const counts = Array.from({ length: countLength }, () => 0)
  counts[countAt.success] = requests
  counts[countAt.bytesOut] = 100 * requests
  counts[countAt.wholeMs] = 3 * requests
  counts[countAt.whole + 2] = requests
  return counts
}

async function bed(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const clock = { ...systemClock, ms: start, now: () => new Date(clock.ms) }
  const router = createFakeRouter(clock)
  const service = place.service.serviceId
  const source = randomUUID()
  const batchOf = (batch: number, requests: number, from = source): CountBatch => ({
    source: from,
    batch,
    counts: { [service]: countsOf(requests) },
  })
  const collector = () => createTrafficCollector({ database: sql, clock, router, name: 'docker', scope: allClusters })
  const keep = () => createTrafficKeeper({ database: sql, clock }).reconcile(signal)
  const reader = createTrafficReader({ database: sql, clock })
  const rows = async (seconds: number): Promise<number> =>
    (await sql`select from traffic_window where seconds = ${seconds}`).count
  return { sql, place, clock, router, service, batchOf, collector, keep, reader, rows }
}

test('the numbers of a router are read for its service and for the environment', async (t) => {
  const { router, batchOf, collector, reader, service, place, clock } = await bed(t)
  router.batches = [batchOf(1, 10)]
  await collector().reconcile(signal)
  clock.ms += minute
  const { total, points, step_seconds } = await reader.ofService(service)
  assert.equal(step_seconds, 60)
  assert.equal(points.length, 61)
  assert.deepEqual(
    points.filter(({ requests }) => requests > 0).map(({ at, status_2xx }) => [at.toISOString(), status_2xx]),
    [['2026-06-01T12:00:00.000Z', 10]],
  )
  assert.equal(total.bytes_out, 1_000)
  assert.deepEqual(total.duration, { p50_ms: 3, p95_ms: 3.9, p99_ms: 4, average_ms: 3 })
  assert.equal(total.first_byte, null)
  const { results } = await reader.ofEnvironment(place.environment.environmentId)
  assert.deepEqual(
    results.map(({ service_id, requests }) => [service_id, requests]),
    [[service, 10]],
  )
})

test('a batch is stored once, by two servers and after a restart', async (t) => {
  const { sql, router, batchOf, collector, reader, service } = await bed(t)
  router.batches = [batchOf(1, 10)]
  const [one, other] = [collector(), collector()]
  await Promise.all([one.reconcile(signal), other.reconcile(signal)])
  await collector().reconcile(signal)
  router.batches = [batchOf(1, 10), batchOf(2, 5)]
  await one.reconcile(signal)
  assert.equal((await reader.ofService(service)).total.requests, 15)
  const [total] = await sql`select counts[${countAt.success + 1}]::int as requests from traffic_total`
  assert.equal(total?.['requests'], 15)
})

test('a router that starts again counts from its own first batch', async (t) => {
  const { router, batchOf, collector, reader, service } = await bed(t)
  const collected = collector()
  router.batches = [batchOf(7, 10)]
  await collected.reconcile(signal)
  router.batches = [batchOf(1, 5, randomUUID())]
  await collected.reconcile(signal)
  assert.equal((await reader.ofService(service)).total.requests, 15)
})

test('a batch that could not be stored is stored later', async (t) => {
  const { sql, router, batchOf, collector, reader, service } = await bed(t)
  const collected = collector()
  router.batches = [batchOf(1, 10)]
  await sql`alter table traffic_window rename to away`
  await assert.rejects(collected.reconcile(signal))
  await sql`alter table away rename to traffic_window`
  await collected.reconcile(signal)
  assert.equal((await reader.ofService(service)).total.requests, 10)
})

test('windows become coarser, are deleted in time, and lose no request', async (t) => {
  const { router, batchOf, collector, keep, reader, service, clock, rows } = await bed(t)
  const collected = collector()
  const requestsSince = async (ms: number): Promise<number> =>
    (await reader.ofService(service, { from: new Date(clock.ms - ms) })).total.requests
  for (let batch = 1; batch <= 72; batch++) {
    router.batches = [batchOf(batch, 10)]
    await collected.reconcile(signal)
    if (batch % 5 === 0) await keep()
    if (batch === 40) assert.equal(await requestsSince(24 * hour), 400)
    clock.ms += 20 * minute
  }
  await keep()
  assert.equal(await requestsSince(26 * hour), 720)
  assert.equal(await rows(60), 6)
  clock.ms += 3 * 24 * hour
  await keep()
  assert.deepEqual([await rows(60), await rows(600), await rows(3600), await rows(14_400)], [0, 0, 24, 6])
  assert.equal(await requestsSince(7 * 24 * hour), 720)
  clock.ms += 20 * 24 * hour
  await keep()
  assert.deepEqual([await rows(3600), await rows(14_400)], [0, 6])
  assert.equal(await requestsSince(30 * 24 * hour), 720)
  clock.ms += 40 * 24 * hour
  await keep()
  assert.equal(await rows(14_400), 0)
})

test('a clock that goes back and forth loses and doubles no request', async (t) => {
  const { router, batchOf, collector, keep, reader, service, clock } = await bed(t)
  const collected = collector()
  let batch = 0
  const add = async (): Promise<void> => {
    router.batches = [batchOf(++batch, 1)]
    await collected.reconcile(signal)
    await keep()
  }
  for (const jump of [0, 30, -25, 5, 70, -40, 15, -10, 60, 30]) {
    clock.ms += jump * minute
    await add()
  }
  clock.ms += 20 * minute
  await keep()
  const read = async (step: number) =>
    (await reader.ofService(service, { from: new Date(start - 12 * hour), step_seconds: step })).points
  for (const step of [600, 3600, 14_400]) {
    const points = await read(step)
    assert.equal(
      points.reduce((sum, { requests }) => sum + requests, 0),
      batch,
      `${step}`,
    )
    assert.ok(points.every(({ requests }) => requests >= 0))
  }
})

test('numbers of unknown services and of other clusters, and dishonest numbers, are ignored', async (t) => {
  const { sql, place, router, collector, service, clock } = await bed(t)
  const other = await addService(sql, place.environment)
  const huge = countsOf(1).with(countAt.bytesIn, 2 ** 51)
  const counts = { [service]: countsOf(1), [randomUUID()]: countsOf(1), nonsense: countsOf(1), [other.serviceId]: huge }
  router.batches = [
    { source: randomUUID(), batch: 1, counts },
    { source: 'nonsense', batch: 1, counts },
  ]
  await collector().reconcile(signal)
  assert.equal((await sql`select from traffic_total`).count, 1)
  const elsewhere = { engines: ['another'], isRest: false }
  router.batches = [{ source: randomUUID(), batch: 1, counts }]
  const foreign = createTrafficCollector({ database: sql, clock, router, name: 'another', scope: elsewhere })
  await foreign.reconcile(signal)
  const [total] = await sql`select counts[${countAt.success + 1}]::int as requests from traffic_total`
  assert.equal(total?.['requests'], 1)
})

test('the numbers of a deleted service are deleted with it', async (t) => {
  const { sql, router, batchOf, collector, service, rows } = await bed(t)
  router.batches = [batchOf(1, 10)]
  await collector().reconcile(signal)
  await sql`delete from service where id = ${service}`
  assert.equal(await rows(60), 0)
  assert.equal((await sql`select from traffic_total`).count, 0)
})

test('a range is read from windows that reach back far enough, in at most 1,500 steps', () => {
  const wish = (ageMs: number, stepSeconds?: number) =>
    rangeOf({ fromMs: start - ageMs, toMs: start, stepSeconds }, start)
  assert.equal(wish(hour).stepSeconds, 60)
  assert.equal(wish(24 * hour).stepSeconds, 600)
  assert.equal(wish(7 * 24 * hour).stepSeconds, 3600)
  assert.equal(wish(30 * 24 * hour).stepSeconds, 14_400)
  assert.equal(wish(24 * hour, 3600).stepSeconds, 3600)
  assert.equal(wish(24 * hour, 1).stepSeconds, 600)
  const { fromMs, toMs, stepSeconds } = wish(400 * 24 * hour)
  assert.ok((toMs - fromMs) / 1000 / stepSeconds <= 1_500)
})

test('the first step of a range does not begin before its windows do', async (t) => {
  const { router, batchOf, collector, keep, reader, service, clock } = await bed(t)
  const collected = collector()
  for (let batch = 1; batch <= 48; batch++) {
    router.batches = [batchOf(batch, 1)]
    await collected.reconcile(signal)
    clock.ms += 5 * minute
    await keep()
  }
  const query = { from: new Date(clock.ms - hour), step_seconds: 7_260 }
  const { points, from, step_seconds } = await reader.ofService(service, query)
  const sent = Array.from({ length: 48 }, (_, index) => start + index * 5 * minute)
  assert.ok(step_seconds >= 7_260)
  assert.equal(
    points.reduce((sum, { requests }) => sum + requests, 0),
    sent.filter((ms) => ms >= from.getTime()).length,
  )
})

test('the parts of a range follow each other from coarse to fine', () => {
  const range = rangeOf({ fromMs: start - 24 * hour, toMs: start, stepSeconds: 3600 }, start)
  const until = new Map([
    [600, start - 10 * minute],
    [3600, start - hour],
    [14_400, start - 4 * hour],
  ])
  assert.deepEqual(partsOf(range, until), [
    { seconds: 3600, fromMs: start - 24 * hour, toMs: start - hour },
    { seconds: 600, fromMs: start - hour, toMs: start - 10 * minute },
    { seconds: 60, fromMs: start - 10 * minute, toMs: start },
  ])
  assert.equal(levels.at(-1)?.seconds, 14_400)
})

test('a quantile is inside its bucket, and none is negative', () => {
  assert.equal(quantile([], 0.5), 0)
  assert.equal(quantile([4], 0.5), 0.5)
  assert.equal(quantile([0, 0, 0, 10], 0.5), 6)
  assert.equal(
    quantile(
      Array.from({ length: 18 }, (_, index) => (index === 17 ? 1 : 0)),
      0.99,
    ),
    65_536,
  )
})
