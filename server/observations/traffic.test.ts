import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { createRouteMarks, listServiceRoutes } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { allClusters } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { findWish } from './observation-store.ts'
import { createTrafficMover } from './traffic.ts'

const here = { address: '10.0.0.1', port: 80 }
const there = { address: '10.0.0.2', port: 80 }
const [first, second] = [
  { replica: 'app-1', ...here },
  { replica: 'app-2', ...there },
]
const { signal } = new AbortController()
const replica = (name: string, endpoint: typeof first) => ({
  name,
  release: '',
  image: '',
  running: true,
  exits: 0,
  outOfMemory: false,
  endpoints: [endpoint],
})

/** A running service with a route, and a traffic mover that records its calls to the carrier. */
async function openBench(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const { serviceId: service } = (await addPlace(sql)).service
  const release = newId()
  const settings = sql.json({ min_running_instances: 2, max_running_instances: 2 })
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, variables)
    values (${release}, ${service}, ${newId()}, now(), 1, ${settings}, '{"variables":{},"files":[]}')`
  await sql`update cluster set engine = 'local'`
  await sql`update service set release_id = ${release}, state = 'DEPLOYED' where id = ${service}`
  await sql`
    insert into route (host, service_id, port_name, internal_port, is_default, release_id, endpoints, updated_at)
    values ('shop.localhost', ${service}, 'web', 80, true, ${release}, '[]', now())`
  const asked: string[] = []
  const duringDrain = { run: async () => {} }
  const traffic = createTrafficMover({
    database: sql,
    clock,
    carrier: {
      apply: async () => asked.push('apply'),
      nudge: () => void asked.push('nudge'),
      drained: async (addresses) => {
        asked.push(`drained ${addresses.map(({ address }) => address).join(' ')}`)
        await duringDrain.run()
      },
    },
  })
  const addresses = async () =>
    (await listServiceRoutes(sql, service)).flatMap(({ endpoints }) => endpoints.map(({ address }) => address))
  const wish = async () => {
    const row = await findWish(sql, service)
    assert.ok(row)
    return row
  }
  return { sql, service, release, traffic, asked, addresses, wish, duringDrain }
}

test('moveTraffic writes the endpoints and has the table handed over soon, once', async (t) => {
  const { service, release, traffic, asked, addresses } = await openBench(t)
  await traffic.moveTraffic(service, release, [first])
  await traffic.moveTraffic(service, release, [first])
  assert.deepEqual(await addresses(), ['10.0.0.1'])
  assert.deepEqual(asked, ['nudge'])
})

test('moveTraffic leaves traffic where it is when another release is wished', async (t) => {
  const { service, traffic, asked, addresses } = await openBench(t)
  await traffic.moveTraffic(service, newId(), [first])
  assert.deepEqual(await addresses(), [])
  assert.deepEqual(asked, [])
})

test('moveTraffic hands the table over at once for a service that wakes up', async (t) => {
  const { sql, service, release, traffic, asked } = await openBench(t)
  await sql`insert into service_scale (service_id, replicas, waking, changed_at) values (${service}, 1, true, now())`
  await traffic.moveTraffic(service, release, [first])
  assert.deepEqual(asked, ['apply'])
})

test('leave takes traffic from replicas, waits for their requests, and notes that they end', async (t) => {
  const { sql, service, release, traffic, asked, addresses, wish } = await openBench(t)
  await traffic.moveTraffic(service, release, [first, second])
  asked.length = 0
  await sql`insert into service_scale (service_id, replicas, changed_at) values (${service}, 1, now())`
  const leaving = [replica('app-2', second)]
  assert.equal(await traffic.leave(await wish(), { staying: [first], leaving }, signal), true)
  assert.deepEqual(await addresses(), ['10.0.0.1'])
  assert.deepEqual(asked, ['apply', 'drained 10.0.0.2'])
  const [row] = await sql<{ leaving: string[] }[]>`select leaving from service_scale where service_id = ${service}`
  assert.deepEqual(row?.leaving, ['app-2'])
})

test('leave returns false if the desired state changed while it waited for requests', async (t) => {
  const { sql, service, release, traffic, wish, duringDrain } = await openBench(t)
  await traffic.moveTraffic(service, release, [first, second])
  const before = await wish()
  duringDrain.run = async () => void (await sql`update service set release_id = null where id = ${service}`)
  const replicas = { staying: [first], leaving: [replica('app-2', second)] }
  assert.equal(await traffic.leave(before, replicas, signal), false)
})

test('failed ends the wait for a waking service, and hands over a new table only then', async (t) => {
  const { sql, service, traffic, asked } = await openBench(t)
  await traffic.failed(service)
  assert.deepEqual(asked, [])
  await sql`insert into service_scale (service_id, replicas, waking, changed_at) values (${service}, 1, true, now())`
  const marks = createRouteMarks({ database: sql, clock })
  const before = await marks.of(allClusters)
  await traffic.failed(service)
  assert.deepEqual(asked, ['nudge'])
  assert.notEqual(await marks.of(allClusters), before)
})
