import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { readTable } from '../domains/route-table-store.ts'
import { fakeWorkload } from '../engines/fake/fake-workload.ts'
import { FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { allClusters, createFakeRouter } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createScaler } from './scaler.ts'
import { endWaking, findScale } from './scaling-store.ts'
import { createSleeper } from './sleeper.ts'
import { createWaker } from './waker.ts'

const host = 'shop.localhost'
const { signal } = new AbortController()

/** One running service with these settings, and a clock that the test moves. */
async function openBench(t: Cleanup, settings: Readonly<Record<string, number>>) {
  const { sql } = await testDatabase(t)
  const { serviceId: service, environmentId: environment } = (await addPlace(sql)).service
  const release = newId()
  const all = { cpu: 500, memory: 100, min_running_instances: 1, max_running_instances: 1, ...settings }
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, variables)
    values (${release}, ${service}, ${newId()}, now(), 1, ${sql.json(all)}, '{"variables":{},"files":[]}')`
  await sql`update cluster set engine = 'local'`
  await sql`update service set release_id = ${release}, state = 'DEPLOYED' where id = ${service}`
  const endpoints = [{ address: '10.0.0.1', port: 80 }]
  await sql`
    insert into route (host, service_id, port_name, internal_port, is_default, release_id, endpoints, updated_at)
    values (${host}, ${service}, 'web', 80, true, ${release}, ${sql.json(endpoints)}, now())`
  const engine = new FakeEngine({ clock: systemClock })
  const run = async (replicas: number): Promise<void> => {
    const workload = { ...fakeWorkload('app'), replicas: { min: replicas, max: replicas } }
    await engine.start({ id: release, service, environment, displayName: 'app', workload }, { signal, output: silent })
  }
  await run(1)
  const router = createFakeRouter()
  const publish = async (): Promise<readonly number[]> => router.replaceAll((await readTable(sql)).routes, signal)
  await publish()
  let nowMs = 0
  const clock: Clock = { ...systemClock, monotonic: () => nowMs }
  const told: string[] = []
  const given = {
    database: sql,
    clock,
    log: silentLogger,
    name: 'local',
    scope: allClusters,
    changed: (_: string, sentence: string) => told.push(sentence),
  }
  const pass = (seconds: number): void => {
    nowMs += seconds * 1000
  }
  return { sql, service, engine, router, run, publish, pass, told, given, scale: () => findScale(sql, service) }
}

test('an engine that scales by load is left alone', async (t) => {
  const bench = await openBench(t, { max_running_instances: 3 })
  bench.engine.capabilities = { ...bench.engine.capabilities, scalesByLoad: true }
  bench.engine.use(bench.service, { cpuMilli: 500 })
  await createScaler({ ...bench.given, name: 'local', engine: bench.engine }).reconcile(signal)
  assert.equal(await bench.scale(), null)
})

test('load adds replicas within the settings and the machine, and five calm minutes remove them', async (t) => {
  const bench = await openBench(t, { max_running_instances: 3 })
  bench.engine.capacity = { cpuMilli: 1000, memoryMiB: 1000, architecture: 'AMD64' }
  const scaler = createScaler({ ...bench.given, name: 'local', engine: bench.engine })
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), null)
  bench.engine.use(bench.service, { cpuMilli: 500 })
  await scaler.reconcile(signal)
  assert.deepEqual([await bench.scale(), bench.told], [2, ['Scaled from 1 to 2 replica(s) by load.']])
  await bench.run(2)
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), 2, 'an engine of 1000 has room for two of 500')
  bench.engine.use(bench.service, { cpuMilli: 10 })
  bench.pass(60)
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), 2)
  bench.pass(301)
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), 1)
})

test('a service is not scaled while a request acts on it, or if its number is fixed', async (t) => {
  const bench = await openBench(t, { max_running_instances: 3 })
  const { sql, service } = bench
  bench.engine.use(service, { cpuMilli: 500 })
  bench.engine.capacity = { cpuMilli: 8000, memoryMiB: 8000, architecture: 'AMD64' }
  const scaler = createScaler({ ...bench.given, name: 'local', engine: bench.engine })
  await sql`update release set settings = settings || '{"max_running_instances": 1}'`
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), null)
  await sql`update release set settings = settings || '{"max_running_instances": -1}'`
  await scaler.reconcile(signal)
  assert.equal(await bench.scale(), 2)
})

test('a service that may sleep does so after a long time without requests; an open one keeps it awake', async (t) => {
  const bench = await openBench(t, { min_running_instances: 0 })
  const sleeper = createSleeper({ ...bench.given, router: bench.router })
  const look = async (seconds: number): Promise<number | null> => {
    bench.pass(seconds)
    await sleeper.reconcile(signal)
    return bench.scale()
  }
  assert.equal(await look(0), null)
  const end = bench.router.open(host)
  assert.equal(await look(299), null)
  assert.equal(await look(600), null)
  end()
  assert.equal(await look(1), null)
  bench.router.open(host)()
  assert.equal(await look(299), null)
  assert.equal(await look(299), null)
  assert.equal(await look(1), 0)
  const { routes } = await readTable(bench.sql)
  assert.deepEqual([routes[0]?.asleep, routes[0]?.endpoints, routes[0]?.reason], [true, [], 'it is asleep'])
})

test('a service that must not sleep stays awake, whatever its stored number is', async (t) => {
  const bench = await openBench(t, { min_running_instances: 1 })
  const sleeper = createSleeper({ ...bench.given, router: bench.router })
  for (let times = 0; times < 3; times++) {
    bench.pass(400)
    await sleeper.reconcile(signal)
  }
  assert.equal(await bench.scale(), null)
})

test('a request wakes a service once, and it counts as waking until it is up or failed', async (t) => {
  const bench = await openBench(t, { min_running_instances: 0 })
  const sleeper = createSleeper({ ...bench.given, router: bench.router })
  await sleeper.reconcile(signal)
  bench.pass(300)
  await sleeper.reconcile(signal)
  await bench.publish()
  let refreshed = 0
  const waker = createWaker({
    ...bench.given,
    router: bench.router,
    refreshRoutes: () => refreshed++,
    missed: () => {},
  })
  bench.router.knock(host)
  await waker.reconcile(signal)
  assert.deepEqual([await bench.scale(), bench.told.length, refreshed], [1, 2, 0])
  bench.router.knock(host)
  await waker.reconcile(signal)
  assert.deepEqual([bench.told.length, refreshed], [2, 1])
  assert.equal((await readTable(bench.sql)).routes[0]?.asleep, true, 'requests continue to wait')
  await endWaking(bench.sql, bench.service)
  assert.equal((await readTable(bench.sql)).routes[0]?.asleep, undefined)
})

test('a router that did not answer is asked again, for everything', async (t) => {
  const bench = await openBench(t, { min_running_instances: 0 })
  const asked: number[] = []
  const wakes = async (sequence: number) => {
    asked.push(sequence)
    if (asked.length === 2) throw new Error('away')
    return { sequence: 7, services: [] }
  }
  const clock = { ...systemClock, sleep: async () => {} }
  let missed = 0
  const waker = createWaker({
    ...bench.given,
    clock,
    router: { wakes },
    refreshRoutes: () => {},
    missed: () => missed++,
  })
  for (let times = 0; times < 3; times++) await waker.reconcile(signal)
  assert.deepEqual(asked, [-1, 7, -1])
  assert.equal(missed, 1)
})
